//! Where the exchanges are: in memory, in a file, or gone.

use serde_json::Value;

use super::spill::Spill;
use super::{
    Answer, Counts, Delivery, Effective, Exchange, Handshake, JournalLimits, Missing, Outcome,
    Route,
};

/// The exchanges and their figures.
#[derive(Debug)]
pub(super) struct Store {
    limits: JournalLimits,
    /// What is in memory, by number. With limits, numbers may be absent between those of exchanges
    /// that are not settled.
    recent: Vec<Exchange>,
    /// What `recent` weighs.
    weight: u64,
    counts: Counts,
    /// Made when it is first needed: most journals never are that long.
    spill: Option<Spill>,
    trouble: Option<String>,
}

impl Store {
    pub(super) fn new(limits: JournalLimits) -> Self {
        Self {
            limits,
            recent: Vec::new(),
            weight: 0,
            counts: Counts::default(),
            spill: None,
            trouble: None,
        }
    }

    pub(super) fn recent(&self) -> &[Exchange] {
        &self.recent
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }

    /// Adds an exchange and returns its number.
    pub(super) fn append(&mut self, mut exchange: Exchange) -> u64 {
        self.counts.arrived(&exchange);
        let number = self.counts.exchanges;
        exchange.number = number;
        self.weight += weight(&exchange);
        self.recent.push(exchange);
        self.keep_limits();
        number
    }

    /// Changes how far an answer got. An exchange that was dropped keeps nothing that could change.
    pub(super) fn set_delivery(&mut self, number: u64, delivery: Delivery) {
        if let Ok(index) = self.find(number) {
            if let Route::Model(model) = &mut self.recent[index].route {
                self.counts.delivered(model.delivery, delivery);
                model.delivery = delivery;
            }
        } else if let Err(error) = self.rewrite(number, delivery) {
            self.trouble.get_or_insert_with(|| {
                format!("exchange {number} could not be written again: {error}")
            });
        }
    }

    /// Changes what was answered to an upgrade request. Until then it stays in memory.
    pub(super) fn set_handshake(
        &mut self,
        number: u64,
        handshake: Handshake,
        extensions: Option<String>,
    ) {
        if let Ok(index) = self.find(number)
            && let Route::Upgrade(upgrade) = &mut self.recent[index].route
        {
            upgrade.handshake = handshake;
            upgrade.extensions = extensions;
        }
    }

    /// Changes what was answered. It is not settled then, so it is in memory.
    pub(super) fn set_outcome(&mut self, number: u64, outcome: Outcome) {
        if let Ok(index) = self.find(number)
            && let Route::Model(model) = &mut self.recent[index].route
        {
            self.counts.answered(&model.outcome, &outcome);
            model.outcome = outcome;
        }
    }

    /// Notes how an answer began. Until it has ended, its exchange is in memory.
    pub(super) fn set_answer(&mut self, number: u64, answer: Answer) {
        if let Ok(index) = self.find(number)
            && let Route::Model(model) = &mut self.recent[index].route
        {
            model.answer = Some(answer);
        }
    }

    /// Changes how far an answer got that was taken for complete and whose exchange is in the file:
    /// the client left at the very end after all.
    fn rewrite(&mut self, number: u64, delivery: Delivery) -> std::io::Result<()> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let Some(mut exchange) = spill.read(number)? else { return Ok(()) };
        if let Route::Model(model) = &mut exchange.route {
            model.delivery = delivery;
        }
        spill.write(&exchange)
    }

    pub(super) fn get(&self, number: u64) -> Result<Option<Exchange>, Missing> {
        if number == 0 || number > self.counts.exchanges {
            return Ok(None);
        }
        if let Ok(index) = self.find(number) {
            return Ok(Some(self.recent[index].clone()));
        }
        let Some(spill) = &self.spill else { return Err(Missing::Dropped { number }) };
        match spill.read(number) {
            Ok(Some(exchange)) => Ok(Some(exchange)),
            Ok(None) => Err(Missing::Dropped { number }),
            Err(error) => Err(Missing::Unreadable { number, reason: error.to_string() }),
        }
    }

    pub(super) fn delivery(&self, number: u64) -> Result<Option<Delivery>, Missing> {
        let of = |exchange: &Exchange| match &exchange.route {
            Route::Model(model) => Some(model.delivery),
            _ => None,
        };
        match self.find(number) {
            Ok(index) => Ok(of(&self.recent[index])),
            Err(_) => Ok(self.get(number)?.as_ref().and_then(of)),
        }
    }

    fn find(&self, number: u64) -> Result<usize, usize> {
        self.recent.binary_search_by_key(&number, |exchange| exchange.number)
    }

    /// Lets the oldest settled exchanges leave memory, many at a time, when a limit is passed.
    fn keep_limits(&mut self) {
        let JournalLimits { entries, bytes, .. } = self.limits;
        if self.recent.len() <= entries && self.weight <= bytes {
            return;
        }
        let (most, heaviest) = (entries - entries / 4, bytes - bytes / 4);
        let mut left = self.recent.len();
        let mut kept = Vec::with_capacity(most.min(left));
        for exchange in std::mem::take(&mut self.recent) {
            if (left > most || self.weight > heaviest) && exchange.is_settled() {
                left -= 1;
                self.weight -= weight(&exchange);
                self.leave(&exchange);
            } else {
                kept.push(exchange);
            }
        }
        self.recent = kept;
    }

    /// Writes an exchange to the file, or counts it as dropped.
    fn leave(&mut self, exchange: &Exchange) {
        match self.write(exchange) {
            Ok(true) => self.counts.spilled += 1,
            Ok(false) => self.counts.dropped += 1,
            Err(error) => {
                self.counts.dropped += 1;
                self.trouble.get_or_insert_with(|| {
                    format!("exchange {} could not be written: {error}", exchange.number)
                });
            }
        }
    }

    /// Whether the exchange was written; it is not when there is no folder for it.
    fn write(&mut self, exchange: &Exchange) -> std::io::Result<bool> {
        let Some(folder) = &self.limits.spill else { return Ok(false) };
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::create(folder)?),
        };
        spill.write(exchange)?;
        Ok(true)
    }
}

/// About how many bytes of memory an exchange takes. A parsed body takes a few times the space of
/// its text.
fn weight(exchange: &Exchange) -> u64 {
    let body = exchange.body.len();
    let parsed = match &exchange.route {
        Route::Model(model) if model.json.is_some() => 3 * body,
        _ => 0,
    };
    let rebuilt = match &exchange.route {
        Route::Model(model) => match &model.effective {
            Effective::Rebuilt(body) => size(body),
            Effective::AsSent | Effective::Unknown => 0,
        },
        _ => 0,
    };
    let read = match &exchange.route {
        // Shared with the body that it is made from, unless something was lost.
        Route::Model(model) if !model.dropped.is_empty() => model.read.as_deref().map_or(0, size),
        _ => 0,
    };
    let header = |(name, value): &(String, String)| name.len() + value.len() + 48;
    let headers: usize = exchange.headers.iter().map(header).sum();
    (512 + body + parsed + rebuilt + read + headers) as u64
}

/// About how many bytes of memory a JSON value takes.
fn size(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| 32 + key.len() + size(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    32 + inner
}
