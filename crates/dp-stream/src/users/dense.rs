//! Numbers without gaps.

use std::borrow::Cow;

use crate::Event;

/// Events with users numbered from 0 on, and how many numbers there are: never more than events, whatever numbers users had. Numbers decide nothing,
/// so those that are as dense as that stay.
pub(crate) fn dense(steps: &[Vec<Event>]) -> (u32, Cow<'_, [Vec<Event>]>) {
    let users = || steps.iter().flatten().map(|event| event.user);
    let places = |numbers: usize| u32::try_from(numbers).expect("events fit into memory");
    match users().max() {
        None => (0, steps.into()),
        Some(last) if last < u32::MAX && (last as usize) < users().count() => {
            (last + 1, steps.into())
        }
        Some(_) => {
            let mut all: Vec<u32> = users().collect();
            all.sort_unstable();
            all.dedup();
            let number = |user: u32| places(all.partition_point(|&other| other < user));
            let numbered = |event: &Event| Event { user: number(event.user), ..*event };
            let steps = steps.iter().map(|events| events.iter().map(numbered).collect()).collect();
            (places(all.len()), Cow::Owned(steps))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_stay_apart_and_have_no_more_places_than_events() {
        let step = |users: &[u32]| -> Vec<Event> {
            users.iter().map(|&user| Event { user, item: user.into() }).collect()
        };
        for (users, want) in [
            (&[][..], &[][..]),
            (&[0, 2, 2], &[0, 2, 2]),
            (&[0, 9, 9], &[0, 1, 1]),
            (&[u32::MAX, 7, u32::MAX, 0], &[2, 1, 2, 0]),
            (&[u32::MAX], &[0]),
        ] {
            let steps = [vec![], step(users), step(&users[..users.len().min(1)])];
            let (places, numbered) = dense(&steps);
            let shown = |place: usize| numbered[place].iter();
            assert!(shown(1).map(|event| &event.user).eq(want));
            assert!(shown(1).map(|event| event.item).eq(users.iter().map(|&user| user.into())));
            assert_eq!((numbered.len(), numbered[0].len()), (3, 0));
            assert!(shown(2).map(|event| event.user).eq(want.iter().copied().take(1)));
            assert!(want.iter().all(|&user| user < places) && places as usize <= 2 * users.len());
        }
    }
}
