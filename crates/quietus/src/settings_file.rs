//! Settings in a TOML file, in place of flags: `--settings FILE`. What is said on the command line as well overrules it.
//!
//! A key is the name of a flag: `epsilon = 0.5`, `range = ["age=0,100", "cost=0,500"]`, `no-ledger = true`. The file becomes words of the command line
//! before these are parsed, so that it can say what they can, and nothing else.

use crate::cli::Cli;
use crate::error::Error;
use clap::CommandFactory;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The flag that names the file.
const FLAG: &str = "--settings";

/// What a key can be.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
enum Setting {
    Flag(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    Several(Vec<Setting>),
}

/// The words of a command line, with those of its file of settings.
///
/// # Errors
/// If the file cannot be read, is no TOML, or has a key that is no flag of this command.
pub fn with_settings(words: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Error> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let Some(place) = words.iter().position(|word| starts(word, FLAG)) else { return Ok(words) };
    let said = words.remove(place);
    let path = match said.to_str().and_then(|word| word.split_once('=')) {
        Some((_, path)) => OsString::from(path),
        None if place < words.len() => words.remove(place),
        None => {
            let (name, got) = (FLAG, "nothing".to_owned());
            return Err(Error::Setting { name, got, want: "followed by a file" });
        }
    };
    let path = Path::new(&path);
    let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
    let settings: BTreeMap<String, Setting> = basic_toml::from_str(&text)
        .map_err(|error| Error::library("the file of settings", &error))?;
    let known = flags(&words);
    for (key, setting) in settings {
        if !known.contains(&key) {
            return Err(Error::Unknown { what: "setting", got: key, known });
        }
        let flag = format!("--{key}");
        if words.iter().any(|word| starts(word, &flag)) {
            continue;
        }
        let values = match setting {
            Setting::Several(values) => values,
            one => vec![one],
        };
        for value in values {
            let text = match value {
                Setting::Flag(true) => {
                    words.push(flag.clone().into());
                    continue;
                }
                Setting::Flag(false) => continue,
                Setting::Whole(number) => number.to_string(),
                Setting::Real(number) => number.to_string(),
                Setting::Text(text) => text,
                Setting::Several(_) => {
                    let (name, got) = (FLAG, format!("lists in a list in `{key}`"));
                    return Err(Error::Setting { name, got, want: "a list of values at most" });
                }
            };
            words.push(format!("{flag}={text}").into());
        }
    }
    Ok(words)
}

/// Whether a word is this flag, with a value or without.
fn starts(word: &OsString, flag: &str) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix(flag));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// The flags of the command that these words begin.
fn flags(words: &[OsString]) -> Vec<String> {
    let mut command = &Cli::command();
    for word in words.iter().skip(1).map_while(|word| word.to_str()) {
        let Some(next) = command.find_subcommand(word) else { break };
        command = next;
    }
    command.get_arguments().filter_map(|flag| flag.get_long().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::with_settings;
    use crate::cli::{Cli, Command, Family};
    use clap::Parser;
    use std::ffi::OsString;
    use std::fs;

    fn words(text: &str) -> Result<Vec<OsString>, crate::Error> {
        with_settings(text.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_file_says_what_flags_can_and_flags_overrule_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("plan.toml");
        let path_text = path.to_str().unwrap();
        let text = "range = [\"x=0,1\", \"y=-2,2\"]\nk = 3\nepsilon = 0.5\ndelta = 1e-6\nunscaled = true\ndata = 'a.csv'\nno-ledger = false\n";
        fs::write(&path, text).unwrap();
        let all = words(&format!(
            "quietus plan cluster --settings {path_text} --epsilon 2 --range z=0,9"
        ));
        let Command::Plan { family: Family::Cluster(args) } =
            Cli::try_parse_from(all.unwrap()).unwrap().command
        else {
            panic!("a plan")
        };
        assert_eq!((args.k, args.loss.epsilon, args.delta), (Some(3), Some(2.0), 1e-6));
        assert!(args.unscaled && !args.target.no_ledger && args.range == ["z=0,9"]);

        // A flag that begins as another one does not overrule it.
        fs::write(&path, "items = ['A', 'B']\n").unwrap();
        let all = format!("quietus plan items --settings {path_text} --items-per-step 2");
        let all = words(&all).unwrap();
        assert!(["--items=A", "--items=B"].iter().all(|item| all.iter().any(|word| word == item)));

        fs::write(&path, "epsilom = 1\n").unwrap();
        let error = words(&format!("quietus plan cluster --settings={path_text}")).unwrap_err();
        assert!(
            error.to_string().starts_with("there is no setting `epsilom`; these exist: range,"),
            "{error}"
        );
        fs::write(&path, "epsilon = [[1]]\n").unwrap();
        assert!(words(&format!("quietus plan count --settings {path_text}")).is_err());
        fs::write(&path, "epsilon = = 1\n").unwrap();
        assert!(words(&format!("quietus plan count --settings {path_text}")).is_err());
        assert!(words("quietus plan count --settings").is_err());
        assert!(words("quietus plan count --settings /no/such/file").is_err());
        assert_eq!(words("quietus plan count --by x").unwrap().len(), 5, "untouched");
    }
}
