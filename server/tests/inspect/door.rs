//! Who is let in, and every way in which somebody is not.

use std::time::Duration;

use twolane::inspect::Config;
use twolane::limits::{CODE_LIFE, FAILURE_FORGIVEN_AFTER, FAILURES_MAX, SESSION_LIFE};

use super::client::{Ask, Running, send};

/// Hosts by which somebody else's site, or nobody, is named.
const WRONG_HOSTS: [&str; 9] = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:80",
    "evil.example@127.0.0.1",
    "10.0.0.1",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
    "127.1",
    "localhost.",
];

#[tokio::test]
async fn a_code_is_traded_for_a_cookie_that_scripts_cannot_read() {
    let running = Running::start().await;
    let answer = running.enter(&running.code()).send(&running).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), serde_json::json!({ "valid": true, "expires_in_s": 43200 }));
    let cookie = answer.header("set-cookie");
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Max-Age=43200");
    assert!(pair.starts_with(&format!("twolane-{}=", running.address.port())));
    assert!(running.is_in(pair).await);
    assert!(running.is_in(&format!("other=1; {pair}; more=2")).await);
    running.stop().await;
}

#[tokio::test]
async fn without_the_cookie_nobody_is_in() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    let (name, value) = cookie.split_once('=').unwrap();
    for wrong in ["", "x", &format!("{name}="), &format!("{name}={value}x"), &format!("twolane-1={value}")] {
        assert!(!running.is_in(wrong).await, "{wrong}");
        let answer = Ask::new("GET", "/api/tap")
            .origin(&running)
            .header("Cookie", wrong)
            .upgrade()
            .send(&running)
            .await;
        assert_eq!((answer.status, answer.reason().as_str()), (401, "session"));
    }
    // Another server's page on this host set a cookie of our name: ours still counts.
    assert!(running.is_in(&format!("{name}=forged; {cookie}")).await);
    running.stop().await;
}

#[tokio::test]
async fn a_code_works_once_even_for_many_at_once() {
    let running = Running::start().await;
    let ask = running.enter(&running.code()).text(running.address);
    let mut tries = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (address, ask) = (running.address, ask.clone());
        tries.spawn(async move { send(address, ask.as_bytes()).await.status });
    }
    let mut statuses = tries.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 403, 403, 403, 403, 403, 403, 403]);
    running.stop().await;
}

#[tokio::test]
async fn a_code_is_too_old_after_ten_minutes() {
    let running = Running::start().await;
    let (early, late) = (running.code(), running.code());
    running.wait(CODE_LIFE - Duration::from_secs(1));
    assert_eq!(running.enter(&early).send(&running).await.status, 200);
    running.wait(Duration::from_secs(1));
    let answer = running.enter(&late).send(&running).await;
    assert_eq!((answer.status, answer.reason().as_str()), (403, "code"));
    assert!(!answer.has("set-cookie"));
    running.stop().await;
}

#[tokio::test]
async fn a_session_ends_after_twelve_hours() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    running.wait(SESSION_LIFE - Duration::from_secs(1));
    assert!(running.is_in(&cookie).await);
    running.wait(Duration::from_secs(1));
    assert!(!running.is_in(&cookie).await);
    running.stop().await;
}

#[tokio::test]
async fn a_wrong_host_reaches_nothing() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    for host in WRONG_HOSTS {
        let code = running.code();
        let with_host = |ask: Ask| ask.host(host).header("Origin", &format!("http://{host}"));
        for ask in [
            Ask::new("GET", "/").host(host),
            Ask::new("GET", "/api/health").host(host),
            Ask::new("GET", "/nothing").host(host),
            with_host(Ask::new("POST", "/api/enter")).body(&format!(r#"{{"code":"{code}"}}"#)),
            with_host(Ask::new("GET", "/api/tap")).header("Cookie", &cookie).upgrade(),
            Ask::new("POST", "/api/code").host(host).bearer(&running.token()),
        ] {
            let answer = ask.send(&running).await;
            assert_eq!((answer.status, answer.reason().as_str()), (421, "host"), "{host}");
        }
        assert_eq!(running.enter(&code).send(&running).await.status, 200, "the code is still good");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_host_is_named_exactly_once() {
    let running = Running::start().await;
    let own = running.address.to_string();
    let twice = Ask::new("GET", "/").header("Host", &own).host("evil.example");
    let none = Ask::new("GET", "/").host("");
    let in_the_line = Ask::new("GET", &format!("http://{own}/"));
    for ask in [twice, none, in_the_line] {
        let answer = ask.send(&running).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "host"), "{}", ask.text(running.address));
    }
    running.stop().await;
}

#[tokio::test]
async fn any_port_is_allowed_where_host_and_origin_agree() {
    let running = Running::start().await;
    for host in ["localhost:4000", "127.0.0.1:1", "127.8.9.10:65535", "[::1]:4000", "localhost"] {
        let answer = Ask::new("POST", "/api/enter")
            .host(host)
            .header("Origin", &format!("http://{host}"))
            .body(&format!(r#"{{"code":"{}"}}"#, running.code()))
            .send(&running)
            .await;
        assert_eq!(answer.status, 200, "{host}");
        let port = host.rsplit_once(':').map_or("80", |(_, port)| port);
        assert!(answer.header("set-cookie").starts_with(&format!("twolane-{port}=")), "{host}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_wrong_origin_neither_enters_nor_listens() {
    let running = Running::start().await;
    let (cookie, code) = (running.cookie().await, running.code());
    let port = running.address.port();
    let own = format!("http://{}", running.address);
    let wrong = [
        None,
        Some("null".to_owned()),
        Some(String::new()),
        Some("http://evil.example".to_owned()),
        Some(format!("http://127.0.0.1.evil.example:{port}")),
        Some(format!("https://127.0.0.1:{port}")),
        Some(format!("http://localhost:{port}")),
        Some(format!("http://127.0.0.2:{port}")),
        Some(format!("http://127.0.0.1:{}", port ^ 1)),
        Some("http://127.0.0.1".to_owned()),
        Some(format!("{own}/")),
        Some(format!("{own} {own}")),
    ];
    let with = |ask: Ask, origin: &Option<String>| match origin {
        Some(origin) => ask.header("Origin", origin),
        None => ask,
    };
    let enter = Ask::new("POST", "/api/enter").body(&format!(r#"{{"code":"{code}"}}"#));
    let listen = Ask::new("GET", "/api/tap").header("Cookie", &cookie).upgrade();
    for ask in [enter, listen] {
        for origin in &wrong {
            let answer = with(ask.clone(), origin).send(&running).await;
            assert_eq!((answer.status, answer.reason().as_str()), (403, "origin"), "{origin:?}");
        }
        let twice = ask.clone().header("Origin", &own).header("Origin", "http://evil.example");
        assert_eq!(twice.send(&running).await.status, 403);
    }
    assert_eq!(running.inspect.tap().listeners(), 0);
    assert_eq!(running.enter(&code).send(&running).await.status, 200, "the code is still good");
    running.stop().await;
}

#[tokio::test]
async fn ten_wrong_codes_make_everybody_wait() {
    let running = Running::start().await;
    let cookie = running.cookie().await;
    for _ in 0..FAILURES_MAX {
        assert_eq!(running.enter("wrong").send(&running).await.status, 403);
    }
    let right = running.code();
    let answer = running.enter(&right).send(&running).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, "7"));
    let answer = Ask::new("POST", "/api/code").bearer(&running.token()).send(&running).await;
    assert_eq!(answer.status, 429);
    assert!(running.is_in(&cookie).await, "who is in stays in");
    running.wait(FAILURE_FORGIVEN_AFTER);
    assert_eq!(running.enter(&right).send(&running).await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn the_token_gives_the_command_line_a_code_and_pages_nothing() {
    let running = Running::start().await;
    let ask = Ask::new("POST", "/api/code");
    assert_eq!(ask.send(&running).await.status, 401);
    assert_eq!(ask.clone().bearer("wrong").send(&running).await.status, 401);
    assert_eq!(ask.clone().bearer(&running.code()).send(&running).await.status, 401);
    let basic = ask.clone().header("Authorization", &format!("Basic {}", running.token()));
    assert_eq!(basic.send(&running).await.status, 401);
    let page = ask.clone().bearer(&running.token()).origin(&running).send(&running).await;
    assert_eq!((page.status, page.reason().as_str()), (403, "origin"));
    let answer = ask.bearer(&running.token()).send(&running).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["expires_in_s"], 600);
    let code = answer.json()["code"].as_str().unwrap().to_owned();
    assert!(code.len() == 43 && code != running.token());
    assert_eq!(running.enter(&code).send(&running).await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn a_body_that_is_no_code_is_refused_and_one_too_long_is_not_read() {
    let running = Running::start().await;
    let code = running.code();
    let enter = Ask::new("POST", "/api/enter").origin(&running);
    for body in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        r#"{"code":1}"#.to_owned(),
        format!(r#"{{"code":"{code}","more":1}}"#),
        format!(r#"{{"code":"{code}"}}{{}}"#),
    ] {
        let answer = enter.clone().body(&body).send(&running).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "body"), "{body}");
    }
    let padded = format!(r#"{{"code":"{code}"}}{}"#, " ".repeat(1024));
    assert_eq!(enter.clone().body(&padded).send(&running).await.status, 413);
    let announced = enter.clone().header("Content-Length", "1000000000000").text(running.address);
    assert_eq!(send(running.address, announced.as_bytes()).await.status, 413);
    let chunked = enter.header("Transfer-Encoding", "chunked").text(running.address)
        + "400\r\n"
        + &" ".repeat(1024)
        + "\r\n400\r\n"
        + &" ".repeat(1024)
        + "\r\n0\r\n\r\n";
    assert_eq!(send(running.address, chunked.as_bytes()).await.status, 413);
    assert_eq!(running.enter(&code).send(&running).await.status, 200, "the code is still good");
    running.stop().await;
}

#[tokio::test]
async fn another_servers_secrets_open_nothing() {
    let (ours, other) = (Running::start().await, Running::start().await);
    assert_eq!(ours.enter(&other.code()).send(&ours).await.status, 403);
    let theirs = other.cookie().await;
    let (_, value) = theirs.split_once('=').unwrap();
    assert!(!ours.is_in(&format!("twolane-{}={value}", ours.address.port())).await);
    assert_eq!(Ask::new("POST", "/api/code").bearer(&other.token()).send(&ours).await.status, 401);
    ours.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn the_door_works_over_ipv6() {
    let running = Running::start_at("[::1]:0", Config::default()).await;
    let url = running.inspect.page_url(running.address).unwrap();
    assert!(url.starts_with(&format!("http://[::1]:{}/#code=", running.address.port())));
    let cookie = running.cookie().await;
    assert!(running.is_in(&cookie).await);
    running.stop().await;
}
