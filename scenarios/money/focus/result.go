package focus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// Result is the total of a bill in FOCUS and whether the bill conserves its commitments and
// conforms to the rules.
type Result struct {
	Schema       string        `json:"schema"`
	File         string        `json:"file"`
	Version      string        `json:"focus_version"`
	Currency     string        `json:"currency"`
	Total        Totals        `json:"total"`
	Unused       Amount        `json:"unused_cost"`
	Coverage     *float64      `json:"commitment_coverage"`
	WhyCoverage  string        `json:"commitment_coverage_why,omitempty"`
	Savings      *float64      `json:"effective_savings_rate"`
	WhySavings   string        `json:"effective_savings_rate_why,omitempty"`
	Conserves    bool          `json:"conserves"`
	Commitments  []*Commitment `json:"commitments"`
	Reservations []*Commitment `json:"capacity_reservations"`
	Services     []*Group      `json:"services"`
	Statuses     []*Group      `json:"statuses"`
	Months       []*Group      `json:"months"`
	Accounts     []*Group      `json:"accounts"`
	Tags         []*Group      `json:"tags"`
	Conforms     bool          `json:"conforms"`
	Missing      []string      `json:"missing_columns"`
	OddRows      int64         `json:"odd_rows"`
	Odd          []Oddity      `json:"odd"`
	Notes        []string      `json:"notes"`
}

// Conclude sets the verdicts after the last row and sorts every list: groups by effective cost,
// the largest first, commitments by ID, months by time. It fails with capcli.ErrOverflow.
func (c *Check) Conclude(file string, read *Report) (*Result, error) {
	byID := func(a, b *Commitment) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(c.Commitments, byID)
	slices.SortFunc(c.Reservations, byID)
	for _, k := range c.Commitments {
		if err := k.conclude(); err != nil {
			return nil, err
		}
	}
	for _, k := range slices.Concat(c.Commitments, c.Reservations) {
		k.Utilisation = k.utilisation()
	}
	lists := [][]*Group{c.Services, c.Statuses, c.Accounts, c.Tags}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b *Group) int {
			return cmp.Or(strings.Compare(a.Key, b.Key), b.Effective.Cmp(a.Effective), strings.Compare(a.Name, b.Name))
		})
	}
	slices.SortFunc(c.Months, func(a, b *Group) int { return strings.Compare(a.Name, b.Name) })
	for _, g := range slices.Concat(append(lists, c.Months)...) {
		g.listed()
	}
	c.Total.listed()
	out := &c.Result
	out.File, out.Version, out.Currency, out.Unused = file, read.Version, read.Currency, c.Unused.Effective
	out.Conforms, out.Conserves = c.Conforms(), len(out.Broken()) == 0
	out.Coverage, out.WhyCoverage = c.coverage()
	out.Savings, out.WhySavings = c.savingsRate()
	out.Notes = append(append(out.Notes, read.Notes()...), c.notes()...)
	return out, nil
}

// listed sets List where every row of usage has a list cost.
func (t *Totals) listed() {
	if t.Unlisted == 0 {
		t.List = &t.list
	}
}

// Broken returns the commitments whose sums differ.
func (r *Result) Broken() []*Commitment {
	return slices.DeleteFunc(slices.Clone(r.Commitments), func(k *Commitment) bool { return k.Verdict != Broken })
}

// Notes returns what the reader assumed, ignored and rounded, one sentence each.
func (r *Report) Notes() []string {
	out := slices.Clone(r.Assumed)
	if len(r.Unknown) > 0 {
		out = append(out, "not columns of FOCUS, and passed over: "+strings.Join(r.Unknown, ", "))
	}
	if r.Rounded > 0 {
		out = append(out, rowsText(r.Rounded)+" had a number of more than 18 places, which was rounded")
	}
	return out
}

// notes returns what does not conform to FOCUS 1.2, one sentence each.
func (c *Check) notes() (out []string) {
	if c.OddRows > 0 {
		first := c.Odd[0]
		out = append(out, fmt.Sprintf("%s not what FOCUS 1.2 wants, first line %d: %s (--table odd)", rowsText(c.OddRows), first.Line, first.Text))
	}
	if len(c.Missing) > 0 {
		out = append(out, "columns that FOCUS 1.2 makes mandatory and the bill lacks: "+strings.Join(c.Missing, ", "))
	}
	return out
}

// rowsText returns the number of rows in words.
func rowsText(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return capcli.Grouped(n) + " rows"
}
