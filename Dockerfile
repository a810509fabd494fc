# The web page and the HTTP API over a folder of simulations: docs/deployment.md.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY enquete enquete
RUN python -m venv /opt/enquete \
 && /opt/enquete/bin/pip install --no-cache-dir --constraint constraints.txt ".[http,mcp,scale]"

FROM python:3.12-slim
COPY --from=build /opt/enquete /opt/enquete
ENV PATH=/opt/enquete/bin:$PATH ENQUETE_ROOT=/data
# A run writes beside its simulation, so the folder must belong to this user.
RUN useradd --create-home --uid 10001 enquete && mkdir /data && chown enquete /data
USER enquete
VOLUME /data
EXPOSE 8642
STOPSIGNAL SIGTERM
ENTRYPOINT ["enquete"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8642"]
