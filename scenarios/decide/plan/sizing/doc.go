// Package sizing finds how many replicas a service needs to keep its promises, what they cost, how far
// its load may grow, and from which use on they cost less than a price per token.
//
// The answer is exact by search: requests are played one by one (simulate/serving) with 1, 2, …
// replicas, all ready at the start, until all promises hold. More replicas are not always better under
// some routers, so the first number that holds is the answer. A lower bound by arithmetic is shown
// beside it: it counts the least work, sequences and memory of the requests of any window.
//
// A promise over requests counts every request that came: one that was rejected or never served is
// later than any limit. A promise on TPOT counts the requests of more than one token.
package sizing
