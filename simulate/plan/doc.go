// Package plan chooses what to commit to.
//
// For a known demand curve the best purchases are found exactly. In words: buy
// GPUs on terms (so many months at such a rate) at the starts of periods, pay
// on demand for what is not covered, and pay the least in all. A purchase
// covers an unbroken run of periods, so that the optimum is a flow on the time line
// (package flow), which proves it.
//
// All amounts are integers. The unit is chosen so that no product of a rate, a
// length of time and a number of GPUs is rounded; a cost is rounded once, to
// the millionth of a dollar, where it leaves the package.
//
// A Market makes a program of a Curve and says its optimum in GPUs and dollars. For
// demand that is not known a Field lays out Futures under one market, and finds the
// purchases of the least Risk, also where they are decided again in stages. The
// packages below it ask and answer questions: curve, futures, review, joint, savings
// and mix; market reads what can be bought, and resample draws jobs for futures.
//
// Beside the exact answer stands a yardstick that needs no forecast: what can be
// promised by a policy that decides online (package online).
package plan
