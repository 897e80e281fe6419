//! The table of docs/attacks.md.

use super::{Attack, Catalogue, Mutant, Mutants, Scheme};

/// The table: class, attack, what stops it, outcome, and what shows when the check is taken away.
pub fn render(catalogue: &Catalogue, mutants: &Mutants) -> String {
    let mut text = String::from(
        "| class | attack | stopped by | outcome | without the check |\n| --- | --- | --- | --- | --- |\n",
    );
    for row in &catalogue.row {
        let class = format!("{} ({})", row.class, row.seen);
        for (index, attack) in row.attack.iter().enumerate() {
            let class = if index == 0 { class.as_str() } else { "" };
            let stopped = stopped(catalogue, attack);
            let outcome = outcome(attack);
            text +=
                &format!("| {class} | {} | {stopped} | {outcome} | {} |\n", named(attack), without(attack, mutants));
        }
        if let Some(reason) = &row.reason {
            let class = if row.attack.is_empty() { class.as_str() } else { "" };
            text += &format!("| {class} | not tried here | | {reason} | |\n");
        }
    }
    text
}

fn stopped(catalogue: &Catalogue, attack: &Attack) -> String {
    let says = |name: &str| format!("{name}: {} (`{}`)", catalogue.check[name].does, catalogue.check[name].file);
    let mut text = says(&attack.check);
    for (scheme, with) in [(Scheme::Pages, "page tables"), (Scheme::Pmsav8, "PMSAv8"), (Scheme::Rtmmu, "RTMMU")] {
        let check = catalogue.stops(attack, scheme);
        if attack.is_tried(scheme) && check != attack.check {
            text += &format!("; with {with} {}", says(check));
        }
    }
    text
}

fn named(attack: &Attack) -> String {
    match (&attack.host, &attack.system) {
        (Some(package), _) => format!("`{}` in {package}, on the host", attack.name),
        (None, Some(system)) => format!("{} ({system})", attack.name),
        (None, None) if attack.only == Some(Scheme::Pages) => format!("{}: with page tables", attack.name),
        (None, None) if attack.only == Some(Scheme::Pmsav8) => format!("{}: with Armv8-M", attack.name),
        (None, None) if attack.only == Some(Scheme::Rtmmu) => format!("{}: with RTMMU", attack.name),
        (None, None) => match &attack.reason {
            Some(reason) => format!("{}: not with page tables. {reason}", attack.name),
            None => attack.name.clone(),
        },
    }
}

fn outcome(attack: &Attack) -> String {
    let mut parts = Vec::new();
    if !attack.fault.is_empty() {
        parts.push(format!("fault: {}", attack.fault.join(" or ")));
    }
    if !attack.pages.is_empty() {
        parts.push(format!("with page tables fault: {}", attack.pages.join(" or ")));
    }
    if !attack.pmsav8.is_empty() {
        parts.push(format!("with Armv8-M fault: {}", attack.pmsav8.join(" or ")));
    }
    if !attack.rtmmu.is_empty() {
        parts.push(format!("with RTMMU fault: {}", attack.rtmmu.join(" or ")));
    }
    parts.extend(attack.refused.iter().map(|(error, least)| format!("{error}, {least} times or more")));
    parts.extend(attack.unwound.keys().map(|error| format!("the caller gets {error}")));
    if attack.finds_nothing {
        parts.push("finds nothing".into());
    }
    if parts.is_empty() {
        parts.push("no victim notices".into());
    }
    parts.join("; ")
}

fn without(attack: &Attack, mutants: &Mutants) -> String {
    let of_attack = |mutant: &&Mutant| mutant.attack == attack.name;
    let found = mutants.mutant.iter().find(of_attack);
    match found {
        Some(mutant) => mutant.sign.join(" or "),
        None => mutants
            .mutant
            .iter()
            .find(|mutant| mutant.check == attack.check)
            .map_or_else(|| "?".into(), |mutant| format!("as for: {}", mutant.attack)),
    }
}
