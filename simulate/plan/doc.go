// Package plan chooses what to commit to.
//
// For a known demand curve the best purchases are found exactly. In words: buy
// GPUs on terms (so many months at such a rate) at the starts of periods, pay
// on demand for what is not covered, and pay the least in all. A purchase
// covers an unbroken run of periods, so the matrix of the program has the
// consecutive-ones property, is totally unimodular (Fulkerson and Gross 1965),
// and the program is a flow on the time line whose whole-numbered optimum is
// the optimum: Solve finds it by successive shortest paths, and proves it with
// prices that come to the same amount from below (Solution.Check).
//
// All amounts are integers. The unit is chosen so that no product of a rate, a
// length of time and a number of GPUs is rounded; a cost is rounded once, to
// the millionth of a dollar, where it leaves the package.
//
// The layers, from the bottom: Program and Solve know only periods, offers and
// costs; Optimum makes a Program of a Curve and a Market and says the result in
// GPUs and dollars.
//
// Beside the exact answer stands a yardstick that needs no forecast: what can be
// promised by a policy that decides online (Online).
package plan
