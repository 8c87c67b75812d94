// Package capcli holds the basic types of the whole program: a job, an instant, GPU time, money, a
// seed, a catalogue of named things and the error for invalid input.
//
// Around it stand small domain packages, one for each verb: profile watches
// (profile/logs/trace reads job logs), forecast expects, scenarios plans and
// simulate plays a plan out. Data flows one way:
//
//	profile/logs/trace ── Job ──▶ simulate.Run ── Record ──▶ scenarios/money/billing ──▶ cmd/report
//	scenarios ─── Config ──▶
//
// Start reading at job.go, then simulate/doc.go, which says in what order
// things happen at one instant, then any file of simulate/policy.
//
// Time is integer (whole seconds), money is integer (millionths of a dollar),
// GPU time is integer (thousandths of a GPU-second, for shared GPUs), so sums
// are the same in any order, on any processor.
package capcli
