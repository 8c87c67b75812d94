package billing

import "capcli"

// Year is the length of a mean year, 365.25 days, in which amounts over other
// lengths of time are compared.
const Year capcli.Seconds = 31_557_600

// YearNote says what "~ a year" is beside an amount of PerYear.
const YearNote = "~ a year: the amount times 365.25 days over the time that it is for; for comparison, not a forecast"

// PerYear is what an amount over so long comes to in a Year, rounded half up: for
// comparison alone, since what a period cost says nothing of other times. It is
// false where there is no length, or the amount does not fit.
func PerYear(amount capcli.USD, over capcli.Seconds) (capcli.USD, bool) {
	if over <= 0 {
		return 0, false
	}
	v, err := mulDiv(int64(max(amount, -amount)), int64(Year), int64(over))
	if err != nil {
		return 0, false
	}
	if amount < 0 {
		v = -v
	}
	return capcli.USD(v), true
}
