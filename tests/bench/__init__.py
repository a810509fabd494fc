"""`make bench`: what Enquete costs beside clients that one would write by hand. Ratios within one run; no test asserts
a time.

python -m tests.bench [--quick] [--write] [PART …]

calls     CPU, wall, memory and tokens of seven contenders on the same prompts, by requests in flight and latency
start     CPU of commands until they have said something
sizes     CPU and memory of whole runs by number of agents
methods   methodologies whose cost a call must not grow: Delphi with its agents, laddering with its turns
null      pages where nothing is to be found: false claims, intervals that cover; effects found where some were planted
disk      bytes an answer, by file
kills     replies that had arrived and were not yet settled when the process was killed
install   megabytes of what the core needs
polls     how much a hundred clients that poll a run's status slow it
peers     Inspect AI and EDSL on the same prompts, where `make bench-peers` has installed them; not unless named

Every contender and every run is a process of its own; contenders alternate. Quick: fewer agents, rounds and conditions.
`--write` files what was measured in bench/measured.json, of which bench/results.md is made; parts of the
same commit and day that are not named are kept, older ones dropped.
"""
