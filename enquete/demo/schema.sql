-- The tables that OASIS 0.2.5 makes for each platform, so that the demo's databases read like a real run's.
CREATE TABLE user (user_id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id INTEGER, user_name TEXT, name TEXT, bio TEXT,
    created_at DATETIME, num_followings INTEGER DEFAULT 0, num_followers INTEGER DEFAULT 0);
CREATE TABLE post (post_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER, original_post_id INTEGER,
    content TEXT DEFAULT '', quote_content TEXT, created_at DATETIME, num_likes INTEGER DEFAULT 0,
    num_dislikes INTEGER DEFAULT 0, num_shares INTEGER DEFAULT 0, num_reports INTEGER DEFAULT 0,
    FOREIGN KEY(user_id) REFERENCES user(user_id), FOREIGN KEY(original_post_id) REFERENCES post(post_id));
CREATE TABLE follow (follow_id INTEGER PRIMARY KEY AUTOINCREMENT, follower_id INTEGER, followee_id INTEGER,
    created_at DATETIME, FOREIGN KEY(follower_id) REFERENCES user(user_id),
    FOREIGN KEY(followee_id) REFERENCES user(user_id));
CREATE TABLE mute (mute_id INTEGER PRIMARY KEY AUTOINCREMENT, muter_id INTEGER, mutee_id INTEGER, created_at DATETIME,
    FOREIGN KEY(muter_id) REFERENCES user(user_id), FOREIGN KEY(mutee_id) REFERENCES user(user_id));
CREATE TABLE "like" (like_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER, post_id INTEGER, created_at DATETIME,
    FOREIGN KEY(user_id) REFERENCES user(user_id), FOREIGN KEY(post_id) REFERENCES post(post_id));
CREATE TABLE dislike (dislike_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER, post_id INTEGER,
    created_at DATETIME, FOREIGN KEY(user_id) REFERENCES user(user_id), FOREIGN KEY(post_id) REFERENCES post(post_id));
CREATE TABLE report (report_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER, post_id INTEGER, report_reason TEXT,
    created_at DATETIME, FOREIGN KEY(user_id) REFERENCES user(user_id), FOREIGN KEY(post_id) REFERENCES post(post_id));
CREATE TABLE trace (user_id INTEGER, created_at DATETIME, action TEXT, info TEXT,
    PRIMARY KEY(user_id, created_at, action, info), FOREIGN KEY(user_id) REFERENCES user(user_id));
CREATE TABLE rec (user_id INTEGER, post_id INTEGER, PRIMARY KEY(user_id, post_id),
    FOREIGN KEY(user_id) REFERENCES user(user_id), FOREIGN KEY(post_id) REFERENCES post(post_id));
CREATE TABLE comment (comment_id INTEGER PRIMARY KEY AUTOINCREMENT, post_id INTEGER, user_id INTEGER, content TEXT,
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP, num_likes INTEGER DEFAULT 0, num_dislikes INTEGER DEFAULT 0,
    FOREIGN KEY(post_id) REFERENCES post(post_id), FOREIGN KEY(user_id) REFERENCES user(user_id));
CREATE TABLE comment_like (comment_like_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER, comment_id INTEGER,
    created_at DATETIME, FOREIGN KEY(user_id) REFERENCES user(user_id),
    FOREIGN KEY(comment_id) REFERENCES comment(comment_id));
CREATE TABLE comment_dislike (comment_dislike_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER, comment_id INTEGER,
    created_at DATETIME, FOREIGN KEY(user_id) REFERENCES user(user_id),
    FOREIGN KEY(comment_id) REFERENCES comment(comment_id));
CREATE TABLE product (product_id INTEGER PRIMARY KEY, product_name TEXT, sales INTEGER DEFAULT 0);
CREATE TABLE chat_group (group_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE group_members (group_id INTEGER NOT NULL, agent_id INTEGER NOT NULL,
    joined_at DATETIME DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (group_id, agent_id),
    FOREIGN KEY (group_id) REFERENCES chat_group(group_id));
CREATE TABLE group_messages (message_id INTEGER PRIMARY KEY AUTOINCREMENT, group_id INTEGER NOT NULL,
    sender_id INTEGER NOT NULL, content TEXT NOT NULL, sent_at DATETIME DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (group_id) REFERENCES chat_group(group_id), FOREIGN KEY (sender_id) REFERENCES user(agent_id));
