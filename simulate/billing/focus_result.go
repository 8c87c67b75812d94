package billing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// FocusResult is what a bill in FOCUS comes to, and whether it adds up.
type FocusResult struct {
	Schema       string             `json:"schema"`
	File         string             `json:"file"`
	Version      string             `json:"focus_version"`
	Currency     string             `json:"currency"`
	Total        FocusTotals        `json:"total"`
	Unused       Amount             `json:"unused_cost"`
	Coverage     *float64           `json:"commitment_coverage"`
	WhyCoverage  string             `json:"commitment_coverage_why,omitempty"`
	Savings      *float64           `json:"effective_savings_rate"`
	WhySavings   string             `json:"effective_savings_rate_why,omitempty"`
	Conserves    bool               `json:"conserves"`
	Commitments  []*FocusCommitment `json:"commitments"`
	Reservations []*FocusCommitment `json:"capacity_reservations"`
	Services     []*FocusGroup      `json:"services"`
	Statuses     []*FocusGroup      `json:"statuses"`
	Months       []*FocusGroup      `json:"months"`
	Accounts     []*FocusGroup      `json:"accounts"`
	Tags         []*FocusGroup      `json:"tags"`
	Conforms     bool               `json:"conforms"`
	Missing      []string           `json:"missing_columns"`
	OddRows      int64              `json:"odd_rows"`
	Odd          []FocusOddity      `json:"odd"`
	Notes        []string           `json:"notes"`
}

// Result draws the verdicts on a bill that was read and puts every list in order:
// groups by effective cost, the largest first, commitments by their id, months by
// time. It fails with capcli.ErrOverflow.
func (c *FocusCheck) Result(file string, read *FocusReport) (*FocusResult, error) {
	byID := func(a, b *FocusCommitment) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(c.Commitments, byID)
	slices.SortFunc(c.Reservations, byID)
	for _, k := range c.Commitments {
		if err := k.conclude(); err != nil {
			return nil, err
		}
	}
	for _, k := range slices.Concat(c.Commitments, c.Reservations) {
		k.Utilisation = orNil(k.utilisation())
	}
	lists := [][]*FocusGroup{c.Services, c.Statuses, c.Accounts, c.Tags}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b *FocusGroup) int {
			return cmp.Or(strings.Compare(a.Key, b.Key), b.Effective.Cmp(a.Effective), strings.Compare(a.Name, b.Name))
		})
	}
	slices.SortFunc(c.Months, func(a, b *FocusGroup) int { return strings.Compare(a.Name, b.Name) })
	for _, g := range slices.Concat(append(lists, c.Months)...) {
		g.listed()
	}
	c.Total.listed()
	out := &FocusResult{
		Schema: "capcli/bill_check/v1", File: file, Version: read.Version, Currency: read.Currency, Total: c.Total, Unused: c.Unused.Effective,
		Commitments: notNil(c.Commitments), Reservations: notNil(c.Reservations),
		Services: notNil(c.Services), Statuses: notNil(c.Statuses), Months: notNil(c.Months), Accounts: notNil(c.Accounts), Tags: notNil(c.Tags),
		Conforms: c.Conforms(), Missing: notNil(c.Missing), OddRows: c.Odd, Odd: notNil(c.Oddities), Notes: notNil(slices.Concat(read.Notes(), c.notes())),
	}
	out.Conserves = len(out.Broken()) == 0
	var ok bool
	var v float64
	if v, ok, out.WhyCoverage = c.Coverage(); ok {
		out.Coverage = &v
	}
	var rate float64
	if rate, ok, out.WhySavings = c.SavingsRate(); ok {
		out.Savings = &rate
	}
	return out, nil
}

// notNil is a list that is empty rather than nil, for JSON.
func notNil[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// listed sets the on-demand equivalent where all rows have one.
func (t *FocusTotals) listed() {
	if t.Unlisted == 0 {
		t.List = &t.list
	}
}

// Broken gives the commitments whose sums differ.
func (r *FocusResult) Broken() []*FocusCommitment {
	return slices.DeleteFunc(slices.Clone(r.Commitments), func(k *FocusCommitment) bool { return k.Verdict != Broken })
}

// Notes say what the reader took for granted or passed over.
func (r *FocusReport) Notes() []string {
	out := slices.Clone(r.Assumed)
	if len(r.Unknown) > 0 {
		out = append(out, "not columns of FOCUS, and passed over: "+strings.Join(r.Unknown, ", "))
	}
	if r.Rounded > 0 {
		out = append(out, rowsText(r.Rounded)+" had a number of more than 18 places, which was rounded")
	}
	return out
}

// notes say what is not as FOCUS wants it.
func (c *FocusCheck) notes() (out []string) {
	if c.Odd > 0 {
		first := c.Oddities[0]
		out = append(out, fmt.Sprintf("%s not what FOCUS 1.2 wants, first line %d: %s (--table odd)", rowsText(c.Odd), first.Line, first.Text))
	}
	if len(c.Missing) > 0 {
		out = append(out, "columns that FOCUS 1.2 makes mandatory and the bill lacks: "+strings.Join(c.Missing, ", "))
	}
	return out
}

func rowsText(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return capcli.Grouped(n) + " rows"
}
