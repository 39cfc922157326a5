//! The rules that the engine follows, and the measurements behind them. Code names them by their numbers.
//!
//! # Exactly once without transactions (P)
//!
//! The target's log is the truth, a checkpoint is a claim about it. The rules were checked with a model that explores
//! crashes, late requests, two owners at once, lost tails and forgotten producers; each one closes a counterexample.
//!
//! - **P1** One producer id per mirror, agreed through the ledger: the `id` entry with the lowest offset counts.
//! - **P2** The n-th record that a link writes under one epoch has sequence n. No batch straddles 2^31.
//! - **P3** A change of stamp is never a new id: it is the next epoch of the same one, stored before its first use.
//! - **P4** A changed view of the source's past (rules, isolation) is a change of stamp too.
//! - **P5** A link is *guarded* while the broker's memory of its id can be trusted: 0.11 or newer, our newest batch in the
//!   stamp in force, every timestamp around younger than the horizon, nothing truncated.
//! - **P6** Guarded, a late request does no harm whatever its delay: nothing waits.
//! - **P7** Unguarded, nothing is read before every request of unknown outcome has *settled*: connection reset, then the
//!   settle time from the moment it was sent.
//! - **P8** One request in flight until the first acknowledgement after a resume, then up to five; always one on 0.10, with
//!   an unstable source, and unguarded on brokers that accept unknown ids.
//! - **P9** Of all checkpoints the furthest that is proved counts: the target's batch that ends there carries its stamp, or on
//!   0.10 its fingerprint.
//! - **P10** Log end and tail are read over the connection that carries the first write.
//! - **P11** Every batch behind the proved point carries our id, and its sequences continue; else somebody else writes.
//! - **P12** A log that ends before the checkpoint has lost data: never gone on silently.
//! - **P13** The source is walked over as many records as were counted, and the last one agrees in content. More on the target
//!   than the source holds, or another content: the link stops.
//! - **P14** It goes on with the sequence behind the tail, or at zero where the epoch in force is newer than the tail's.
//! - **P15** A reading has an age: it is not written on long after it was taken.
//! - **P16** No blind resend. After an unknown outcome or a refusal the bytes are dropped and the log is read.
//! - **P17** Errors 45 and 59 mean: look at the log. If the refused batch was alone and its sequence follows the tail, the
//!   broker has forgotten the id: settle, read again, next epoch.
//! - **P18** Only an acknowledgement at the expected base offset is credited.
//! - **P19** Checkpoints are written after acknowledgements only, per worker.
//! - **P20** An unstable source (compacted) is written one batch at a time.
//! - **P22** Where others write too, position is counted in sequences, never in offsets.
//! - **P23** 0.10 has no stamps: always unguarded, one in flight, proved by content.
//!
//! Not complete yet: P15 (a reading is used at once), of P18 the reading back of an answer that may be a duplicate's, and of P22
//! asking the broker for our last sequence where retention has removed every trace. P4 is kept by the checkpoint's view: a changed one
//! begins only where nothing is left to be counted.
//!
//! Traces that they close: **C1** two workers with two ids write the same record twice. **C4** a steady stream of old records:
//! the broker forgets, refuses batch n, and accepts n+1. **C11** a late batch of ours behind a foreign one hides it. **C12** a
//! truncated log grows to the checkpoint's offset by other hands. **C14** on 0.10 the end is read, and *then* the old request
//! lands. **C16** after a truncation the new epoch's first request is of unknown outcome. A hole that is left: **H7** retention
//! deletes the batch that would prove a checkpoint; the count of offsets decides then, with an event.
//!
//! # Measured on producer ids (E)
//!
//! - **E1** A broker forgets a producer by its records' timestamps, not by the clock: 8 days old, clean restart, last batch
//!   repeated: 0.11 answers 45, 2.0 … 2.4 answer 59, 2.8 and newer append it a second time.
//! - **E2** 2.8 and newer accept an unknown id at any sequence: of two requests in flight on a fresh partition the second is
//!   accepted though the first was refused.
//! - **E3** A self-raised epoch fences the old one, also across a restart.
//! - **E4** The same edges with other content are answered with error 0 and the old base offset; nothing is appended.
//!
//! # Measured on Fetch (F), compaction (K) and Produce (R, M)
//!
//! - **F1** v0-v1 answer in magic 0 at most, v2-v3 in magic 1, v4 and newer as stored: one answer can mix all formats.
//! - **F4** The batch or wrapper that holds the wanted offset comes whole and may begin before it.
//! - **F5** v0-v2 cut an answer at the asked size, also in its first message; v3 and newer give the first partition that has
//!   anything at least one batch.
//! - **F7** With error 1 all other fields are −1.
//! - **F8** 0.11 … 2.0 do not say the last stable offset.
//! - **K2** The last batch of a producer stays when all its records are gone: 61 bytes, count 0.
//! - **K4** In magic 1 a compacted wrapper keeps the offset of its last survivor and gaps inside.
//! - **R2** A base offset other than 0 is refused.
//! - **R3** A batch with gaps is stored over other offsets by 0.11 and 1.0, refused by newer brokers (2, from 2.4 on 87). With as
//!   many records as offsets, but other deltas, an uncompressed one is stored as it is by every release; a compressed one is
//!   renumbered (0.11 … 2.1) or refused (2.4 and newer).
//! - **R4** Produce v3 and newer take exactly one batch per partition; older ones a run of plain messages or one wrapper.
//! - **R6** The transactional bit is accepted by 0.11 … 3.0 and blocks read_committed readers for ever.
//! - **R8** The append-time bit is refused (32) up to 3.0.
//! - **R13** A repeated batch (same id, epoch and edges) is answered with error 0 and the *old* base offset.
//! - **R15** Where `message.format.version` is older than the records, the broker builds them down as it appends them.
//! - **R18** A wrong checksum is 2 everywhere; broken bytes are −1: −1 is not always passing.
//! - **M1** Produce v3 and newer never take magic 0 or 1.
//! - **M2** 0.10 keeps a wrapper byte for byte only under its last relative offset, with dense inner offsets and the largest
//!   inner timestamp as its own.
//! - **M3** 0.10 builds magic 0 up to magic 1 with timestamp −1; a wrapper of magic 0 it always compresses again.
//! - **M5** 0.10 refuses magic 2 (error 2).
//! - **M7** The wrong header checksum of lz4 in magic 0 (KAFKA-3160) is taken there and nowhere else.
//!
//! # Public bug reports as cases (B)
//!
//! What happened to users of other clients and mirrors, and must not happen here: **B01** a compacted tail stalls the reader
//! (KAFKA-5443). **B03** a compacted batch is refused as corrupt and retried for ever. **B04** control records are delivered as
//! data. **B05** aborted records are delivered, or
//! committed ones dropped. **B06** the transactional bit leaks (CVE-2018-17196). **B07** the source's producer id is reused
//! (KAFKA-5793). **B08** append times are lost. **B13** relative offsets in compressed magic 1 sets. **B17** damage is laundered
//! by a fresh checksum. **B20** null and empty are swapped; a compacted target refuses records without key. **B21** extreme
//! timestamps. **B23** a record larger than the fetch size. **B24** retention overtakes the reader, who jumps silently. **B25** a
//! topic is created again. **B30** lag never reaches zero. **B31** a batch too large for the target. **B32** acknowledged or not?
//! **B35** zstd to brokers older than 2.1.
//! **B36** one batch per partition and request. **B38** too few replicas in sync. **B40** internal topics are mirrored. **B41** new
//! partitions start too late. **B42** a topic is born by auto-creation with the wrong settings. **B44** empty or leaderless
//! metadata wipes the view. **B50** the fallback of ApiVersions. **B51** 4.x advertises Produce 0-2 and drops it.
//!
//! # Hostile peers (H)
//!
//! **H1** to **H27** are kinds of hostile bytes: frame lengths, counts, strings, varints, offsets, codecs, bombs, answers nobody
//! asked for, and such as **H21** a throttle time of 2^31 − 1 ms and **H22** metadata with a million partitions.
