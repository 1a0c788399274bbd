//! The report of the tour as its readers see it: in a browser, on a phone and on a desk, light and dark.

use crate::error::Error;
use quietus_datasets::{files, workspace};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names under which Chromium is installed; `CHROMIUM` comes before them.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// What a browser gets that shows one page of ours and talks to nobody.
const QUIET: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=20000";

/// A window, and whether its reader prefers the dark.
const VIEWS: [(u32, bool); 4] = [(390, false), (390, true), (1440, false), (1440, true)];

/// After this long a page counts as one that does not open.
const PATIENCE: Duration = Duration::from_mins(1);

/// Text that is paler than this against its background is hard to read (WCAG 2.2, AA).
const CONTRAST: f64 = 4.5;

/// In the page before everything else: errors are kept.
const LISTEN: &str = "<script>
const wrong = [];
addEventListener('error', event => wrong.push(event.message || 'not loaded: ' + event.target.outerHTML.slice(0, 80)), true);
addEventListener('unhandledrejection', event => wrong.push(String(event.reason)));
for (const name of ['error', 'warn']) { console[name] = (...words) => wrong.push(words.join(' ')); }
</script>";

/// After everything else: what can be seen is told to the page around it.
const LOOK: &str = "<script>
addEventListener('load', () => {
  const head = document.querySelector('thead th');
  if (head) { head.click(); head.click(); }
  const shine = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = shine(getComputedStyle(document.body).backgroundColor);
  const contrast = colour => { const own = shine(colour); return (Math.max(own, behind) + 0.05) / (Math.min(own, behind) + 0.05); };
  const pale = (selector, property) => [...document.querySelectorAll(selector)].filter(one => one.textContent.trim())
    .map(one => contrast(getComputedStyle(one)[property]));
  const contrasts = [...pale('p, td, th, a, li, h2, summary', 'color'), ...pale('svg text', 'fill')];
  const seen = one => { const box = one.getBoundingClientRect(); return box.width > 20 && box.height > 20; };
  const drawn = one => seen(one) && one.querySelectorAll('circle, line, polyline, polygon, path, rect, text').length > 3;
  const open = [...document.querySelectorAll('main > .scroll')];
  const sides = [...document.querySelectorAll('main > *, main > figure > svg, main > p > figure > svg')];
  const found = {
    errors: wrong,
    inner_width: innerWidth,
    client_width: document.documentElement.clientWidth,
    scroll_width: document.documentElement.scrollWidth,
    beyond: sides.filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(one => one.outerHTML.slice(0, 80)),
    pictures: [...document.querySelectorAll('figure svg')].filter(drawn).length,
    broken_images: [...document.images].filter(one => !one.complete || one.naturalWidth === 0).length,
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    dark_background: behind < 0.2,
    contrast: Math.min(...contrasts),
    cut_tables: open.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent.slice(0, 60)),
  };
  parent.postMessage(JSON.stringify(found), '*');
});
</script>";

/// The page in a frame, as no window is as narrow as a phone; what it has found, as JSON in an element of its own. `<` and `&` are escaped, so
/// that it is the same text in the DOM.
fn frame(width: u32) -> String {
    format!(
        "<!doctype html><meta name=\"color-scheme\" content=\"light dark\"><script>
addEventListener('message', event => {{
  const text = event.data.replace(/[<>&]/g, c => '\\\\u00' + c.charCodeAt(0).toString(16));
  document.body.innerHTML = '<pre id=\"found\"></pre>';
  document.getElementById('found').textContent = text;
}});
</script><iframe src=\"report.html\" style=\"border:0;width:{width}px;height:900px\"></iframe>"
    )
}

/// What [`LOOK`] has found.
#[derive(Clone, Debug, Deserialize)]
struct Found {
    errors: Vec<String>,
    inner_width: u32,
    client_width: u32,
    scroll_width: u32,
    beyond: Vec<String>,
    pictures: usize,
    broken_images: usize,
    dark: bool,
    dark_background: bool,
    contrast: f64,
    cut_tables: Vec<String>,
}

/// Complaints about the report that the tour has left.
pub(super) fn check_report() -> Result<Vec<String>, Error> {
    let folder = workspace::default_out();
    let Some(browser) = installed() else {
        println!("      SKIPPED: no Chromium here; install the package chromium, or set CHROMIUM");
        return Ok(Vec::new());
    };
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(Error::io("read", &path))
    };
    let (page, text) = (read("report.html")?, read("report.md")?);
    let pictures = text.matches("](plots/").count();
    let scratch = tempfile::tempdir().map_err(Error::io("create", Path::new("a folder")))?;
    let copy = scratch.path().join("report.html");
    let watched = page.replacen("<head>", &format!("<head>{LISTEN}"), 1) + LOOK;
    files::write_atomically(&copy, |writer| writer.write_all(watched.as_bytes()))?;
    let mut complaints = Vec::new();
    for (width, dark) in VIEWS {
        let found = open(&browser, scratch.path(), width, dark)?;
        println!(
            "      {width} px, {}: {} pictures, {} wide tables that scroll, contrast {:.1}",
            if dark { "dark" } else { "light" },
            found.pictures,
            found.cut_tables.len(),
            found.contrast
        );
        let about = wrong(&found, width, dark, pictures);
        complaints.extend(about.iter().map(|line| format!("report at {width} px: {line}")));
    }
    Ok(complaints)
}

/// The first browser that answers.
fn installed() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    let names = named.into_iter().chain(NAMES.map(str::to_owned));
    let mut answering = names.filter(|name| {
        let asked = Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    });
    answering.next()
}

/// Opens the page in a new profile and reads what it has found out about itself.
fn open(browser: &str, scratch: &Path, width: u32, dark: bool) -> Result<Found, Error> {
    let failed = |reason: String| Error::Process { command: browser.to_owned(), reason };
    let out = scratch.join("dom.html");
    let around = scratch.join("frame.html");
    files::write_atomically(&around, |writer| writer.write_all(frame(width).as_bytes()))?;
    let file = std::fs::File::create(&out).map_err(Error::io("create", &out))?;
    let mut child = Command::new(browser)
        .args(QUIET.split_whitespace())
        .arg(format!("--user-data-dir={}", scratch.join(format!("{width}-{dark}")).display()))
        .arg("--window-size=1600,1000")
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .args(["--dump-dom", &format!("file://{}", around.display())])
        .stdout(file)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let start = Instant::now();
    while child.try_wait().map_err(|error| failed(error.to_string()))?.is_none() {
        if start.elapsed() > PATIENCE {
            // It may have ended just now; either way it is gone after this.
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(format!("has not shown the page within {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let dom = std::fs::read_to_string(&out).map_err(Error::io("read", &out))?;
    found(&dom).map_err(failed)
}

fn found(dom: &str) -> Result<Found, String> {
    // The last one: the script that makes it says the same words.
    let text =
        dom.rsplit_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (text, _) = text.ok_or("has shown a page without findings")?;
    serde_json::from_str(text).map_err(|error| format!("has shown findings that are none: {error}"))
}

fn wrong(found: &Found, width: u32, dark: bool, pictures: usize) -> Vec<String> {
    let mut lines: Vec<String> =
        found.errors.iter().map(|error| format!("an error: {error}")).collect();
    if found.inner_width != width || found.dark != dark {
        lines.push(format!(
            "the browser shows {} px, dark {}: not what it was asked for",
            found.inner_width, found.dark
        ));
    }
    if found.scroll_width > found.client_width {
        lines.push(format!("the page is {} px wide", found.scroll_width));
    }
    lines.extend(found.beyond.iter().map(|part| format!("reaches over the right side: {part}")));
    if found.pictures != pictures || found.broken_images > 0 {
        lines.push(format!(
            "{} pictures to be seen and {} broken images; the report has {pictures}",
            found.pictures, found.broken_images
        ));
    }
    if found.dark_background != dark {
        lines.push(format!("dark background: {}, asked for {dark}", found.dark_background));
    }
    if found.contrast < CONTRAST {
        lines.push(format!("text of contrast {:.2}, below {CONTRAST}", found.contrast));
    }
    if width > 1000 {
        let cut = &found.cut_tables;
        lines.extend(cut.iter().map(|table| format!("a table is cut off: {table}")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{found, wrong};

    const FINE: &str = r#"{"errors":[],"inner_width":390,"client_width":375,"scroll_width":375,"beyond":[],"pictures":2,"broken_images":0,"dark":false,
        "dark_background":false,"contrast":4.6,"cut_tables":[]}"#;

    #[test]
    fn each_flaw_of_a_page_is_a_complaint() {
        let dom = |json: &str| format!("<html><body><pre id=\"found\">{json}</pre></body></html>");
        let fine = found(&dom(FINE)).unwrap();
        assert_eq!(wrong(&fine, 390, false, 2), Vec::<String>::new());
        for (from, to) in [
            (r#""errors":[]"#, r#""errors":["x is not defined"]"#),
            (r#""inner_width":390"#, r#""inner_width":500"#),
            (r#""scroll_width":375"#, r#""scroll_width":376"#),
            (r#""beyond":[]"#, r#""beyond":["\u003csvg>"]"#),
            (r#""pictures":2"#, r#""pictures":1"#),
            (r#""broken_images":0"#, r#""broken_images":1"#),
            (r#""dark":false"#, r#""dark":true"#),
            (r#""dark_background":false"#, r#""dark_background":true"#),
            ("4.6", "4.4"),
        ] {
            let odd = found(&dom(&FINE.replace(from, to))).unwrap();
            assert_eq!(wrong(&odd, 390, false, 2).len(), 1, "{to}");
        }
        let cut =
            FINE.replace("390", "1440").replace(r#""cut_tables":[]"#, r#""cut_tables":["a"]"#);
        assert_eq!(wrong(&found(&dom(&cut)).unwrap(), 1440, false, 2).len(), 1);
        assert!(found("<html></html>").is_err() && found(&dom("{")).is_err());
    }
}
