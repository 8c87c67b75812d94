package capcli

import "fmt"

// fewRuns is the number of values below which a range leaves none out: a twentieth at each end is less
// than two of them.
const fewRuns = 40

// RangeRanks returns the ranks, from 1, of the ends of the range that is given with the mean of n
// values: the 5th and the 95th percentile, or the lowest and the highest of fewer than 40.
func RangeRanks(n int) (lo, hi int) {
	if n < fewRuns {
		return 1, n
	}
	return NearestRank(5, n), NearestRank(95, n)
}

// RangeOf says of which values a range of RangeRanks is, behind its ends: " in 90% of 60 runs", or
// ", the lowest and highest of 20 runs". things names the n values: "20 runs".
func RangeOf(n int, things string) string {
	if n < fewRuns {
		return ", the lowest and highest of " + things
	}
	return " in 90% of " + things
}

// RangeNote explains the ranges of RangeRanks over n values in a note: "ranges hold 90% of the 60 runs".
func RangeNote(n int, things string) string {
	if n < fewRuns {
		return fmt.Sprintf("ranges are the lowest and highest of the %d %s", n, things)
	}
	return fmt.Sprintf("ranges hold 90%% of the %d %s", n, things)
}
