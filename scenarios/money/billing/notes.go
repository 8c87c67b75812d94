package billing

import (
	"fmt"

	"capcli"
)

// Notes returns a note on how many lines of the budget exceeded it. even says that the cost of
// a month is taken as even over the month, and adds a note that says so.
func (b *Budget) Notes(lines []BudgetLine, even bool) []string {
	var out []string
	over := 0
	for _, l := range lines {
		if l.At100.IsKnown() {
			over++
		}
	}
	if over > 0 {
		out = append(out, fmt.Sprintf("budget: %d of %d %s %s went over", over, len(lines), b.Every, capcli.Plural(int64(len(lines)), "budget")))
	}
	if len(lines) > 0 && even {
		out = append(out, "* days on which a budget was reached: the cost of a month is taken as even over the month")
	}
	return out
}

// Notes returns a note on who must sign for a purchase of a number of GPUs; none where there
// are no approvals.
func (a Approvals) Notes(gpus int64) []string {
	if len(a) == 0 {
		return nil
	}
	return []string{"approval: " + a.Say(gpus)}
}

// Notes returns notes on the alerts of the carbon budget and on hours whose intensity is that
// of another year. Nil footprints have none.
func (f *Footprints) Notes() []string {
	if f == nil {
		return nil
	}
	var out []string
	if f.Budget != nil {
		text := fmt.Sprintf("carbon: %s of a budget of %s kg CO2e", capcli.BriefNumber(f.Carbon.Kg()), capcli.BriefNumber(f.Budget.Kg()))
		for i, at := range f.Alerts() {
			if at != nil {
				text += fmt.Sprintf("; %d%% on %s", alertPercents[i], at.Date())
			}
		}
		out = append(out, text)
	}
	if f.Moved > 0 {
		out = append(out, fmt.Sprintf("* the carbon of a kilowatt-hour is that of the same hour of another year for %s hours: the series does not have them", capcli.Grouped(f.Moved)))
	}
	return out
}
