package market

import (
	"fmt"
	"slices"

	"capcli/scenarios/decide/plan"
)

// AfterNotes returns what a plan assumes of the time after the known demand, as notes: nothing where
// no term lasts beyond it.
func (f *Frame) AfterNotes(purchases []plan.Purchase) []string {
	m, end := f.Market, f.Curve.KnownLen()
	beyond := slices.ContainsFunc(purchases, func(p plan.Purchase) bool { return p.To > end })
	switch {
	case m.After.Rule == plan.Tail:
		return []string{fmt.Sprintf("assumed*: after %s, %g GPUs are wanted until the last term that is offered ends; every term is paid in full (--buy after=%s)", dayText(f.Instant(end)), GPUs(m.After.Milli), m.After)}
	case m.After.Rule == plan.Fitting:
		var out []string
		for _, x := range m.LeftOut(f.Curve) {
			out = append(out, fmt.Sprintf("the term %s is left out: %s", m.Terms[x.Term].Name, x.Why))
		}
		return append(out, "terms that end after the demand are not bought (--buy after=prorated counts the part within)")
	case beyond && m.After.Rule == plan.InFull:
		return []string{"purchases last beyond the end of the demand, and all of each is paid (--buy after=whole)"}
	case beyond:
		return []string{"purchases that last beyond the end of the demand count with their time within it: what lies beyond is neither charged nor worth anything (--buy after=tail=64 expects 64 GPUs there)"}
	}
	return nil
}

// dayText writes an instant as its day, or the number of its period.
func dayText(i Instant) string {
	if i.Dated() {
		return i.Time.Date()
	}
	return fmt.Sprintf("period %g", i.Period)
}
