//! What a write has introduced: what the servers of its files say before it, and after it.
//!
//! Before the write each server that runs says what is wrong already, which was not introduced by it
//! ([`Supervisor::baseline`]). After it the documents follow the disk, and a task for each server waits for all that the
//! server has to say ([`Supervisor::introduced`]). What comes within the limit is compared with the ledger; what comes
//! later is compared when the next write asks, unless its file has changed by then.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use similar::{ChangeTag, TextDiff};
use terret_tiers::CancellationToken;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use crate::catalog::Dependents;
use crate::client::{Client, FileEvent};
use crate::diagnose::Said;
use crate::diagnostic::{Diagnostic, Severity};
use crate::documents::{self, Open};
use crate::error::{Error, ErrorKind};
use crate::inbound::Published;
use crate::position::Text;
use crate::server::Server;
use crate::supervisor::{Choice, Shared, Supervisor};

/// How long what comes late is waited for.
const LATE: Duration = Duration::from_secs(120);
/// How long a server may take to build again what includes a file.
const REBUILD: Duration = Duration::from_secs(5);
/// How many written files a server is asked about; of more it hears only that they have changed.
const MOST_FILES: usize = 20;
/// How many other open documents are looked at again.
const MOST_OTHERS: usize = 20;

/// How long a call waits for servers.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub(crate) until: Instant,
    /// Ends the waiting sooner. What was written is written, and its result stands.
    pub(crate) cancel: CancellationToken,
}

impl Limit {
    /// The limit of half of the time that is left.
    pub(crate) fn half(&self) -> Self {
        let now = Instant::now();
        let left = self.until.saturating_duration_since(now);
        Self {
            until: now + left / 2,
            cancel: self.cancel.clone(),
        }
    }

    async fn of<T>(&self, wanted: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            found = wanted => Some(found),
            () = tokio::time::sleep_until(self.until) => None,
            () = self.cancel.cancelled() => None,
        }
    }
}

/// What was there before a write.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// The files that it is about to touch, each with its text; absent where there is none.
    texts: HashMap<PathBuf, Option<Arc<Text>>>,
    /// What each server that ran had pushed, by id and root.
    pushed: HashMap<(String, PathBuf), HashMap<PathBuf, Published>>,
    /// What has come of earlier writes meanwhile.
    earlier: Introduced,
}

/// What a write has introduced.
#[derive(Debug, Default)]
pub(crate) struct Introduced {
    /// What is new, each with its file.
    pub(crate) new: Vec<(PathBuf, Diagnostic)>,
    /// What is gone: the file, the line that it was on, and what it is called.
    pub(crate) fixed: HashSet<(PathBuf, u32, String)>,
    /// The files of which nothing was known before, so that what is new in them may have been there.
    pub(crate) first: HashSet<PathBuf>,
    /// The servers that have said all.
    pub(crate) verified: Vec<String>,
    /// What is not known yet.
    pub(crate) pending: Vec<String>,
    /// Why there will be nothing from a server.
    pub(crate) failed: Vec<String>,
    /// How many files no server was asked about, since there are too many.
    pub(crate) passed_over: usize,
}

/// The texts of a written file.
#[derive(Debug)]
struct Versions {
    old: Option<Arc<Text>>,
    new: Option<Arc<Text>>,
    /// Whether it was known before the write that it would be written.
    expected: bool,
}

type Files = Arc<HashMap<PathBuf, Versions>>;

/// What a server says after a write.
#[derive(Debug)]
enum News {
    /// Of a file that was written.
    Own { file: PathBuf, said: Said },
    /// Of another one, and what it had said of it before, where that is known.
    Other {
        file: PathBuf,
        said: Said,
        before: Option<Arc<[Diagnostic]>>,
    },
    /// There is nothing to come any more, for this reason.
    Failed(String),
}

/// What is still on its way after a write.
#[derive(Debug)]
pub(crate) struct Late {
    server: String,
    files: Files,
    news: UnboundedReceiver<News>,
    /// The files that were written again since: nothing that is said of them counts.
    overtaken: HashSet<PathBuf>,
}

/// A server, and the files that it is for.
struct Group {
    choice: Choice,
    files: Vec<PathBuf>,
}

impl Group {
    fn key(&self) -> (String, PathBuf) {
        let root = self.choice.root().unwrap_or(Path::new(""));
        (self.choice.entry().id().to_owned(), root.to_owned())
    }
}

/// Errors and warnings; what is no more than a hint is none of a write's business.
pub(crate) fn that_matter(items: &[Diagnostic]) -> Vec<Diagnostic> {
    let matters = |item: &&Diagnostic| item.severity <= Severity::Warning && !item.unnecessary;
    items.iter().filter(matters).cloned().collect()
}

impl Supervisor {
    /// What is there before a write that is about to touch these files, as far as it is known by then. A server that does
    /// not run yet is started, and waited for no longer than this.
    pub(crate) async fn baseline(&self, paths: &[PathBuf], limit: &Limit) -> Baseline {
        let mut baseline = Baseline::default();
        for path in paths {
            let text = documents::read(path).await.ok();
            baseline.texts.insert(path.clone(), text);
        }
        let owed = self.take_late(paths, &mut baseline.earlier).await;
        let mut waits = Vec::new();
        for group in self.shared.groups(paths).await {
            let shared = Arc::clone(&self.shared);
            let existing = group.files.iter();
            let known: Vec<PathBuf> = existing
                .filter(|path| baseline.texts[*path].is_some() && !owed.contains(*path))
                .take(MOST_FILES)
                .cloned()
                .collect();
            let key = group.key();
            let until = limit.until;
            let (done, wait) = tokio::sync::oneshot::channel();
            // It goes on when the limit has passed, so that a server that starts is there for the next one.
            self.beside(async move {
                let pushed = shared.know(&group.choice, &known, until).await;
                let _ = done.send(pushed);
            });
            waits.push((key, wait));
        }
        for (key, wait) in waits {
            if let Some(Ok(Some(pushed))) = limit.of(wait).await {
                baseline.pushed.insert(key, pushed);
            }
        }
        baseline
    }

    /// What a write has introduced, as far as it is known by then.
    pub(crate) async fn introduced(
        &self,
        baseline: Baseline,
        touched: &[PathBuf],
        limit: &Limit,
    ) -> Introduced {
        let Baseline {
            mut texts,
            pushed,
            earlier: mut introduced,
        } = baseline;
        let mut files = HashMap::new();
        let mut events = Vec::new();
        let paths: HashSet<PathBuf> = texts.keys().chain(touched).cloned().collect();
        for path in paths {
            let new = documents::read(&path).await.ok();
            let expected = texts.contains_key(&path);
            let old = texts.remove(&path).flatten();
            let event = match (&old, &new) {
                (Some(old), Some(new)) if old == new => continue,
                (None, None) => continue,
                (None, Some(_)) if expected => FileEvent::Created,
                (_, Some(_)) => FileEvent::Changed,
                (Some(_), None) => {
                    self.shared.ledger.forget(&path);
                    FileEvent::Deleted
                }
            };
            events.push((path.clone(), event));
            let versions = Versions { old, new, expected };
            files.insert(path, versions);
        }
        if files.is_empty() {
            return introduced;
        }
        let files: Files = Arc::new(files);
        let mut paths: Vec<PathBuf> = files.keys().cloned().collect();
        paths.sort();
        for group in self.shared.groups(&paths).await {
            introduced.passed_over += group.files.len().saturating_sub(MOST_FILES);
            let name = group.choice.entry().spec().name.clone();
            let choice = group.choice.clone();
            let (sender, mut news) = unbounded_channel();
            let pushed = pushed.get(&group.key()).cloned();
            let shared = Arc::clone(&self.shared);
            let events = events.clone();
            self.beside(async move {
                let look = shared.look(&group, pushed, &events, &sender);
                if let Err(error) = look.await {
                    let _ = sender.send(News::Failed(error.to_string()));
                }
            });
            if self
                .collect(&mut news, &files, limit, &mut introduced)
                .await
            {
                introduced.verified.push(name);
                continue;
            }
            introduced.pending.push(self.at_work(&choice));
            let overtaken = HashSet::new();
            self.late().push(Late {
                server: name,
                files: Arc::clone(&files),
                news,
                overtaken,
            });
        }
        introduced
    }

    /// A server that is waited for, and what it is at.
    fn at_work(&self, choice: &Choice) -> String {
        let name = &choice.entry().spec().name;
        match self.shared.running(choice) {
            None => format!("{name} (starting)"),
            Some(server) => match server.client().task() {
                Some(task) => format!("{name} (at work on {task})"),
                None => name.clone(),
            },
        }
    }

    /// Takes in what a server says until a time; says whether it has said all.
    async fn collect(
        &self,
        news: &mut UnboundedReceiver<News>,
        files: &Files,
        limit: &Limit,
        introduced: &mut Introduced,
    ) -> bool {
        loop {
            match limit.of(news.recv()).await {
                Some(Some(news)) => self.shared.fold(news, files, introduced),
                Some(None) => return true,
                None => return false,
            }
        }
    }

    /// Takes in what has come of earlier writes, where it still holds; gives those of the files of which something is
    /// still owed. They are about to be written again: what is said of their text until now counts no more.
    async fn take_late(&self, paths: &[PathBuf], introduced: &mut Introduced) -> HashSet<PathBuf> {
        let all = std::mem::take(&mut *self.late());
        let mut owed = HashSet::new();
        for mut late in all {
            let end = loop {
                match late.news.try_recv() {
                    Ok(news) if late.still_holds(&news).await => {
                        self.shared.fold(news, &late.files, introduced);
                    }
                    Ok(_) => {}
                    Err(end) => break end,
                }
            };
            if end == TryRecvError::Disconnected {
                introduced.verified.push(late.server);
                continue;
            }
            let again = paths.iter().filter(|path| late.files.contains_key(*path));
            let again: Vec<PathBuf> = again.cloned().collect();
            owed.extend(again.iter().cloned());
            late.overtaken.extend(again);
            self.late().push(late);
        }
        owed
    }

    fn late(&self) -> std::sync::MutexGuard<'_, Vec<Late>> {
        self.shared
            .late
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the servers of a file read it, so that what is wrong with it is known before it is written: for the reads of
    /// a harness. Returns at once; needs a runtime of tokio to be called in.
    pub fn touch(&self, path: impl Into<PathBuf>) {
        let path = self.workspace().join(path.into());
        let shared = Arc::clone(&self.shared);
        self.beside(async move {
            let until = Instant::now() + LATE;
            for group in shared.groups(std::slice::from_ref(&path)).await {
                let _ = shared.know(&group.choice, &group.files, until).await;
            }
        });
    }
}

impl Late {
    /// Whether the file is still as it was when this was said of it.
    async fn still_holds(&self, news: &News) -> bool {
        let News::Own { file, .. } = news else {
            return true;
        };
        if self.overtaken.contains(file) {
            return false;
        }
        let now = documents::read(file).await.ok();
        self.files
            .get(file)
            .is_some_and(|versions| versions.new == now)
    }
}

impl Shared {
    /// The servers that can be used for these files, each with its files.
    async fn groups(&self, paths: &[PathBuf]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for path in paths {
            for choice in self.for_file(path).await {
                if choice.problem().is_some() {
                    continue;
                }
                let group = Group {
                    choice,
                    files: vec![path.clone()],
                };
                match groups.iter_mut().find(|known| known.key() == group.key()) {
                    Some(known) => known.files.extend(group.files),
                    None => groups.push(group),
                }
            }
        }
        groups
    }

    /// Notes what a server says of these files as they are, and of the others that it has open where nothing is known of
    /// them; gives what it has pushed.
    async fn know(
        &self,
        choice: &Choice,
        files: &[PathBuf],
        until: Instant,
    ) -> Option<HashMap<PathBuf, Published>> {
        let server = self.server(choice).await.ok()?;
        let client = server.client();
        let left = || until.saturating_duration_since(Instant::now());
        if !client.ready(left(), &|_| {}).await {
            return None;
        }
        let others = client.recent().await.into_iter().take(MOST_OTHERS);
        let id = choice.entry().id();
        let unknown = |path: &PathBuf| !files.contains(path) && !self.ledger.knows(path, id);
        let unknown: Vec<PathBuf> = others.filter(unknown).collect();
        for path in files.iter().chain(&unknown) {
            // What cannot be read has nothing wrong with it that a write could be blamed for.
            let _ = self.know_file(client, path, left()).await;
        }
        let state = client.heard().state();
        Some(state.published.clone())
    }

    async fn know_file(&self, client: &Client, path: &Path, limit: Duration) -> Result<(), Error> {
        let open = client.open(path).await?;
        let said = client.diagnose(path, &open, limit).await?;
        let checked = client.checked(path, &open, limit).await;
        // If it has been written meanwhile, this may be about the new text.
        if client.open(path).await?.version != open.version {
            return Ok(());
        }
        for said in [Some(said), checked].into_iter().flatten() {
            if said.pending.is_none() {
                self.ledger
                    .before(path, &said.by, &that_matter(&said.items));
            }
        }
        Ok(())
    }

    /// Brings what a server knows in step with what was written, and sends on what it says then.
    async fn look(
        &self,
        group: &Group,
        pushed: Option<HashMap<PathBuf, Published>>,
        events: &[(PathBuf, FileEvent)],
        news: &UnboundedSender<News>,
    ) -> Result<(), Error> {
        let server: Arc<Server> = self.server(&group.choice).await?;
        let client = server.client();
        let until = Instant::now() + LATE;
        let left = || until.saturating_duration_since(Instant::now());
        if !client.ready(LATE, &|_| {}).await {
            let server = client.name().to_owned();
            let task = client.task();
            return Err(Error::new(ErrorKind::TimedOut {
                server,
                method: "initialize".to_owned(),
                after: LATE,
                task,
            }));
        }
        let told = |wanted: &[FileEvent]| -> Vec<(&Path, FileEvent)> {
            let events = events.iter().filter(|(_, event)| wanted.contains(event));
            events
                .map(|(path, event)| (path.as_path(), *event))
                .collect()
        };
        // What is new has to be known before it is opened, and what is gone after it is closed.
        client.files_changed(&told(&[FileEvent::Created]))?;
        let pushes = client.pushes();
        let mut opened = Vec::new();
        for path in group.files.iter().take(MOST_FILES) {
            match client.open(path).await {
                Ok(open) => opened.push((path.clone(), client.save(path, open).await?)),
                Err(error) if error.is_end() => return Err(error),
                Err(_) => client.close(path).await?,
            }
        }
        client.files_changed(&told(&[FileEvent::Changed, FileEvent::Deleted]))?;
        let own: HashSet<&Path> = events.iter().map(|(path, _)| path.as_path()).collect();
        // Files that come or go are part of the project, which some read anew.
        let is_other_project = events.iter().any(|(_, event)| *event != FileEvent::Changed);
        if is_other_project && client.read_anew(left()).await {
            for (path, open) in &mut opened {
                *open = client.save_again(path, open.clone()).await?;
            }
        }
        let tell = |file: &Path, said: Said| {
            let file = file.to_owned();
            let _ = news.send(News::Own { file, said });
        };
        for (path, open) in &opened {
            let said = client.diagnose(path, open, left()).await?;
            tell(path, said);
        }
        let spec = &client.entry().spec().diagnostics;
        let has_check = spec.check.is_some();
        let is_told = has_check || !client.is_asked();
        let stand_in = match opened.is_empty() && is_told && spec.dependents.is_none() {
            true => self.stand_in(client, &own, left()).await?,
            false => None,
        };
        let others = self.look_at_others(client, &own, (&pushes, &opened), left(), news);
        others.await?;
        for (path, open) in &opened {
            if let Some(said) = client.checked(path, open, left()).await {
                tell(path, said);
            }
        }
        let (Some(pushed), true) = (pushed, is_told) else {
            return Ok(());
        };
        opened.extend(stand_in);
        if let (Some((_, open)), false) = (opened.first(), has_check) {
            // What it pushes of other files comes in one go with what it pushes of this one.
            loop {
                let count = client.heard().state().pushes;
                client.barrier(open, until).await;
                if client.heard().state().pushes == count || Instant::now() >= until {
                    break;
                }
            }
        }
        for (file, said, before) in pushed_since(client, &pushed, &own) {
            let before = Some(before);
            let _ = news.send(News::Other { file, said, before });
        }
        Ok(())
    }

    /// A document that stands in for files that are gone and tell nothing of themselves: sent or saved again, it makes the
    /// server say how all fare, which it has done when this ends.
    async fn stand_in(
        &self,
        client: &Client,
        own: &HashSet<&Path>,
        limit: Duration,
    ) -> Result<Option<(PathBuf, Open)>, Error> {
        for path in client.recent().await {
            if own.contains(path.as_path()) {
                continue;
            }
            let Ok(open) = client.open(&path).await else {
                continue;
            };
            if client.entry().spec().diagnostics.check.is_some() {
                let open = client.save_again(&path, open).await?;
                client.checked(&path, &open, limit).await;
                return Ok(Some((path, open)));
            }
            let open = client.touch(&path, open).await?;
            client.diagnose(&path, &open, limit.min(REBUILD)).await?;
            return Ok(Some((path, open)));
        }
        Ok(None)
    }

    /// Asks again about the other documents that a server has open, where it does not push by itself what a write has done
    /// to them.
    async fn look_at_others(
        &self,
        client: &Client,
        own: &HashSet<&Path>,
        (pushes, opened): (&HashMap<PathBuf, u64>, &[(PathBuf, Open)]),
        limit: Duration,
        news: &UnboundedSender<News>,
    ) -> Result<(), Error> {
        let dependents = client.entry().spec().diagnostics.dependents;
        if dependents.is_none() && !client.is_asked() {
            return Ok(());
        }
        let name = |path: &&&Path| {
            let name = match dependents {
                Some(Dependents::Include) => path.file_name(),
                _ => path.file_stem(),
            };
            name.map(|name| name.to_string_lossy().into_owned())
        };
        let names: Vec<String> = own.iter().filter_map(|path| name(&path)).collect();
        let until = Instant::now() + limit.min(REBUILD);
        let recent = client.recent().await;
        let others = recent.iter().filter(|path| !own.contains(path.as_path()));
        for path in others.take(MOST_OTHERS) {
            let Ok(mut open) = client.open(path).await else {
                continue;
            };
            let names_one = names.iter().any(|name| open.text.as_str().contains(name));
            match dependents {
                Some(_) if !names_one => continue,
                Some(Dependents::Include) => {
                    // What is gone cannot be saved.
                    if opened.is_empty() {
                        client.touch(path, open).await?;
                    }
                    let count = pushes.get(path).copied().unwrap_or_default();
                    client.pushed_more(path, count, until).await;
                    continue;
                }
                Some(Dependents::Touch) => open = client.touch(path, open).await?,
                None => {}
            }
            let said = client.diagnose(path, &open, limit).await?;
            let file = path.clone();
            let before = None;
            let _ = news.send(News::Other { file, said, before });
        }
        Ok(())
    }

    /// Compares what a server says with what is accounted for.
    fn fold(&self, news: News, files: &Files, introduced: &mut Introduced) {
        let (file, said, before) = match news {
            News::Own { file, said } => (file, said, None),
            News::Other { file, said, before } => (file, said, before),
            News::Failed(why) => return introduced.failed.push(why),
        };
        if let Some(pending) = said.pending {
            introduced.pending.push(pending);
            return;
        }
        if let Some(before) = before {
            self.ledger.before(&file, &said.by, &that_matter(&before));
        }
        let versions = files.get(&file);
        if let Some(Versions {
            old: None,
            expected: true,
            ..
        }) = versions
            && !self.ledger.knows(&file, &said.by)
        {
            // In a file that is new everything is.
            self.ledger.before(&file, &said.by, &[]);
        }
        let lines = versions.map(moved_lines);
        let moved = |line: u32| match &lines {
            Some(lines) => lines.get(line as usize).copied().flatten(),
            None => Some(line),
        };
        let items = that_matter(&said.items);
        let told = self.ledger.compare(&file, &said.by, &items, &moved);
        for item in told.new {
            let is_known = self.ledger.told_by_another(&file, &said.by, &item)
                || introduced.new.iter().any(|(path, known)| {
                    *path == file && known.range == item.range && known.message == item.message
                });
            if !is_known {
                introduced.new.push((file.clone(), item));
            }
        }
        let fixed = told.fixed.into_iter();
        introduced
            .fixed
            .extend(fixed.map(|(line, name)| (file.clone(), line, name)));
        if told.first && !items.is_empty() {
            introduced.first.insert(file);
        }
    }
}

/// What a server has pushed of files that were not written, where it is not what it had pushed.
fn pushed_since(
    client: &Client,
    before: &HashMap<PathBuf, Published>,
    own: &HashSet<&Path>,
) -> Vec<(PathBuf, Said, Arc<[Diagnostic]>)> {
    let entry = client.entry();
    let by = match &entry.spec().diagnostics.check {
        Some(check) => format!("{} {check}", entry.id()),
        None => entry.id().to_owned(),
    };
    let state = client.heard().state();
    let mut changed = Vec::new();
    for (path, published) in &state.published {
        let known = before.get(path);
        let is_same = match known {
            Some(known) => known.items == published.items,
            None => published.items.is_empty(),
        };
        if is_same || own.contains(path.as_path()) {
            continue;
        }
        let said = Said {
            by: by.clone(),
            items: published.items.to_vec(),
            pending: None,
        };
        let before = known.map(|known| Arc::clone(&known.items));
        changed.push((path.clone(), said, before.unwrap_or_default()));
    }
    changed.sort_by(|a, b| a.0.cmp(&b.0));
    changed
}

/// The line that each old line has become: where it is in the new text, or where a line that is new there reads the same.
fn moved_lines(versions: &Versions) -> Vec<Option<u32>> {
    let (Some(old), Some(new)) = (&versions.old, &versions.new) else {
        return Vec::new();
    };
    let diff = TextDiff::from_lines(old.as_str(), new.as_str());
    let mut lines = vec![None; old.lines()];
    let mut added: HashMap<&str, VecDeque<u32>> = HashMap::new();
    for change in diff.iter_all_changes() {
        let at = change.new_index().and_then(|line| u32::try_from(line).ok());
        match (change.tag(), change.old_index(), at) {
            (ChangeTag::Equal, Some(old), at) => {
                if let Some(line) = lines.get_mut(old) {
                    *line = at;
                }
            }
            (ChangeTag::Insert, _, Some(at)) => {
                added
                    .entry(change.value().trim())
                    .or_default()
                    .push_back(at);
            }
            _ => {}
        }
    }
    for (at, line) in lines.iter_mut().enumerate() {
        if line.is_none()
            && let Some(text) = old.line(at)
        {
            *line = added.get_mut(text.trim()).and_then(VecDeque::pop_front);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_followed_where_they_go() {
        let rows: &[(&str, &str, &[Option<u32>])] = &[
            ("a\nb\n", "x\na\nb\n", &[Some(1), Some(2), None]),
            ("a\nb\n", "b\na\n", &[Some(1), Some(0), None]),
            ("a\nb\n", "  b\n", &[None, Some(0), None]),
            ("a\na\n", "a\n", &[Some(0), None, None]),
        ];
        for (old, new, expected) in rows {
            let text = |text: &str| Some(Arc::new(Text::new(text)));
            let versions = Versions {
                old: text(old),
                new: text(new),
                expected: true,
            };
            assert_eq!(moved_lines(&versions), *expected, "{old:?} to {new:?}");
        }
    }
}
