// Package plan chooses what to commit to.
//
// For a known demand curve the cheapest purchases are found exactly: which GPUs to buy on which
// terms (a length and a rate) at which starts of periods, with the rest of the demand paid on
// demand. A purchase covers an unbroken run of periods, so the optimum is a flow on the time line
// (package flow), which proves it.
//
// All amounts are integers, in a unit in which no product of a rate, a duration and a number of
// GPUs is rounded. A cost is rounded once, to the millionth of a dollar, where it leaves the
// package.
//
// A Market turns a Curve into a program and its optimum into GPUs and dollars. For an unknown
// demand a Field holds Futures under one market, and finds the purchases of the least Risk, also
// where they are decided again in stages. The packages curve, futures, review, joint, savings and
// mix ask questions and write the answers as documents; rationale explains the documents. Package
// market parses what can be bought, resample draws jobs for futures, and shard divides a search
// among processes.
//
// Package online is a yardstick that needs no forecast: the cost that an online policy can
// guarantee.
package plan
