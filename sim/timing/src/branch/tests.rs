use super::{BranchSite, Outcome, Predictor};
use crate::profile::tests::stm32f767;

fn predictor(entries: u32) -> Predictor {
    let mut params = stm32f767().branch;
    params.entries.as_mut().unwrap().value = entries;
    Predictor::new(&params)
}

fn site(target: Option<u32>, conditional: bool) -> BranchSite {
    BranchSite { pc: 0x1000, fall_through: 0x1002, target, conditional, calls: false, returns: false }
}

/// Backward taken, forward not taken, unconditional taken, indirect unknown; taken ones need their target computed.
#[test]
fn static_prediction() {
    use Outcome::{Redirect, Right, Wrong};
    let mut p = predictor(0);
    for (site, next, outcome) in [
        (site(Some(0x800), true), 0x800, Redirect),
        (site(Some(0x800), true), 0x1002, Wrong),
        (site(Some(0x2000), true), 0x1002, Right),
        (site(Some(0x2000), true), 0x2000, Wrong),
        (site(Some(0x2000), false), 0x2000, Redirect),
        (site(None, false), 0x3000, Wrong),
        (site(None, false), 0x1002, Right),
    ] {
        assert_eq!(p.resolve(&site, next), outcome, "{site:?} to {next:#x}");
    }
}

/// A loop of three rounds, twice. First branch: unknown, backward, taken: redirect, counter 2. Second: right, counter
/// 3. Exit: wrong, counter 2. Second time: right, right (3), wrong.
#[test]
fn a_loop_is_learnt() {
    use Outcome::{Redirect, Right, Wrong};
    let mut p = predictor(64);
    let s = site(Some(0x800), true);
    let outcomes = [0x800, 0x800, 0x1002, 0x800, 0x800, 0x1002].map(|next| p.resolve(&s, next));
    assert_eq!(outcomes, [Redirect, Right, Wrong, Right, Right, Wrong]);
    p.clear();
    assert_eq!(p.resolve(&s, 0x800), Redirect);
}

/// The last target of an indirect branch is remembered.
#[test]
fn indirect_targets_are_remembered() {
    use Outcome::{Right, Wrong};
    let mut p = predictor(64);
    let s = site(None, false);
    let outcomes = [0x3000, 0x3000, 0x4000, 0x4000].map(|next| p.resolve(&s, next));
    assert_eq!(outcomes, [Wrong, Right, Wrong, Right]);
}

/// 64 entries of one way, indexed from address bit 2: a branch 256 bytes further takes the same entry.
#[test]
fn branches_contend_for_entries() {
    let mut p = predictor(64);
    let near = site(Some(0x800), true);
    let far = BranchSite { pc: 0x1100, fall_through: 0x1102, ..near };
    assert_eq!(p.resolve(&near, 0x800), Outcome::Redirect);
    assert_eq!(p.resolve(&far, 0x800), Outcome::Redirect);
    assert_eq!(p.resolve(&near, 0x800), Outcome::Redirect);
    assert_eq!(p.resolve(&near, 0x800), Outcome::Right);
}

/// 64 entries in two ways: of branches 128 bytes apart, two are held, and a third takes the place of the one that came first.
#[test]
fn a_set_holds_a_branch_in_each_way() {
    use Outcome::{Redirect, Right};
    let mut p = two_ways();
    let [first, second, third] = [0x1000, 0x1080, 0x1100].map(|pc| BranchSite { pc, ..site(Some(0x800), true) });
    let mut taken = |site: &BranchSite| p.resolve(site, 0x800);
    assert_eq!([&first, &second, &first, &second].map(&mut taken), [Redirect, Redirect, Right, Right]);
    assert_eq!([&third, &second, &third, &first].map(&mut taken), [Redirect, Right, Right, Redirect]);
    assert_eq!(taken(&second), Redirect, "it was the next in turn");
}

fn two_ways() -> Predictor {
    let mut params = stm32f767().branch;
    params.ways.as_mut().unwrap().value = 2;
    Predictor::new(&params)
}

#[test]
fn outcomes_cost_what_the_profile_says() {
    let p = predictor(64);
    let costs = |known| [Outcome::Right, Outcome::Redirect, Outcome::Wrong].map(|o| p.cost(o, known));
    assert_eq!((costs(false), costs(true)), ([0, 2, 8], [0, 2, 6]));
}

/// A predictor with a return stack of eight, all branches known.
fn with_stack() -> Predictor {
    let mut params = stm32f767().branch;
    params.return_stack = Some(crate::profile::Param { value: 8, ..params.entries.clone().unwrap() });
    Predictor::new(&params)
}

fn call(pc: u32, to: u32) -> (BranchSite, u32) {
    (BranchSite { pc, fall_through: pc + 4, target: Some(to), conditional: false, calls: true, returns: false }, to)
}

fn back(pc: u32, to: u32) -> (BranchSite, u32) {
    (BranchSite { pc, fall_through: pc + 4, target: None, conditional: false, calls: false, returns: true }, to)
}

/// One function called from three places: the return is new once, then right, wherever it goes. Without the stack it is wrong
/// each time.
#[test]
fn a_return_goes_behind_the_call() {
    use Outcome::{Redirect, Right, Wrong};
    let places = [0x1000, 0x1104, 0x1208, 0x1000, 0x1104];
    let returns = |mut p: Predictor| {
        places.map(|pc| {
            let (site, next) = call(pc, 0x2010);
            p.resolve(&site, next);
            let (site, next) = back(0x2010, pc + 4);
            p.resolve(&site, next)
        })
    };
    assert_eq!(returns(with_stack()), [Redirect, Right, Right, Right, Right]);
    assert_eq!(returns(predictor(64)), [Wrong; 5]);
}

/// Eight calls deep all returns are right; of nine the ninth return goes where the first one did.
#[test]
fn the_ninth_call_pushes_the_first_one_out() {
    let wrong = |deep: u32| {
        let mut p = with_stack();
        let mut once = || {
            for n in 0..deep {
                let (site, next) = call(0x1000 + n * 8, 0x1008 + n * 8);
                p.resolve(&site, next);
            }
            let outcomes = (0..deep).rev().map(|n| {
                let (site, next) = back(0x3000 + n * 4, 0x1004 + n * 8);
                p.resolve(&site, next)
            });
            outcomes.filter(|outcome| *outcome == Outcome::Wrong).count()
        };
        once();
        once()
    };
    assert_eq!((wrong(8), wrong(9)), (0, 1));
}

/// Two wrong predictions of a branch that can go both ways or anywhere else, whatever it does; one that always does the same is forgotten.
/// Of two branches that share an entry, the first has it.
#[test]
fn spoiled_it_has_learned_the_wrong_things() {
    use Outcome::{Redirect, Right, Wrong};
    let thrice = |site: BranchSite, next| {
        let mut p = predictor(64);
        p.resolve(&site, next);
        p.resolve(&site, next);
        p.spoil();
        [0; 3].map(|_| p.resolve(&site, next))
    };
    assert_eq!(thrice(site(Some(0x800), true), 0x800), [Wrong, Wrong, Right]);
    assert_eq!(thrice(site(Some(0x2000), true), 0x1002), [Wrong, Wrong, Right]);
    assert_eq!(thrice(site(Some(0x800), false), 0x800), [Redirect, Right, Right]);
    assert_eq!(thrice(site(None, false), 0x3000), [Wrong, Right, Right]);
    let mut p = predictor(64);
    p.spoil();
    assert_eq!(p.resolve(&site(Some(0x2000), true), 0x1002), Wrong);
    let other = BranchSite { pc: 0x1000 + 64 * 4, ..site(Some(0x9000), true) };
    assert_eq!(p.resolve(&other, 0x1002), Right, "by the static rule");
}

/// Both ways of a set have learned the wrong thing: of three branches that share it, two are wrong twice, whichever comes first. A
/// branch that goes on being held is not spoiled again.
#[test]
fn spoiled_every_way_has_learned_the_wrong_thing() {
    use Outcome::{Right, Wrong};
    let mut p = two_ways();
    let sites = [0x1000, 0x1080, 0x1100].map(|pc| BranchSite { pc, fall_through: pc + 2, ..site(Some(0x9000), true) });
    for site in &sites {
        p.resolve(site, site.fall_through);
    }
    p.spoil();
    let mut round = || sites.map(|site| p.resolve(&site, site.fall_through));
    assert_eq!([round(), round(), round()], [[Wrong, Wrong, Right], [Wrong, Wrong, Right], [Right; 3]]);
}
