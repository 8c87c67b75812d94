package billing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/money/focus"
)

// Request asks for the cost of metered use under a portfolio of commitments.
type Request struct {
	Use       *UseRecord // its window is billed, unless From and Until widen it
	Read      *UseReport // report of reading Use
	Portfolio Portfolio
	Budget    *Budget // nil means none
	Approvals Approvals
	Energy    *Energy  // nil means none
	Requests  Requests // requests that the use served

	From, Until capcli.Time // window; NoTime means that of the use, see window
	Grain       Grain       // of the bill's rows
	Discount    *float64    // yearly cost of capital; nil means no present values

	UseName, PortfolioName string // names in errors and in the statement
}

// Statement is the cost of metered use under a portfolio: the invoice, its payers, and the
// unused part of commitments and reservations.
type Statement struct {
	Schema      string           `json:"schema"`
	Use         string           `json:"use"`
	Portfolio   string           `json:"portfolio"`
	Currency    string           `json:"currency"`
	From        capcli.Time      `json:"from"`
	To          capcli.Time      `json:"to"`
	Total       Totals           `json:"total"`
	Unused      capcli.USD       `json:"unused_usd"`
	Utilisation *float64         `json:"commitment_utilisation"`
	Coverage    *float64         `json:"commitment_coverage"`
	Savings     *float64         `json:"effective_savings_rate"`
	Discount    *float64         `json:"discount_per_year"`
	Worth       *capcli.USD      `json:"present_value_usd"`
	Paid        *focus.Amount    `json:"bill_as_it_was,omitempty"`
	Commitments []CommitmentBill `json:"commitments"`
	Tenants     []Payer          `json:"tenants"`
	Unallocated capcli.USD       `json:"unallocated_usd"`
	UnpaidCash  capcli.USD       `json:"unallocated_billed_usd"`
	Months      []BillMonth      `json:"months"`
	Units       []UnitCost       `json:"unit_costs"`
	Notes       []string         `json:"notes"`

	Budget   []BudgetLine `json:"budget,omitempty"`
	Approval *Signature   `json:"approval,omitempty"`
	Energy   *Footprints  `json:"energy,omitempty"`

	Bill *Bill `json:"-"` // with all rows
}

// Totals are the costs of a statement.
type Totals struct {
	Billed     capcli.USD `json:"billed_usd"`
	Effective  capcli.USD `json:"effective_usd"`
	Equivalent capcli.USD `json:"on_demand_equivalent_usd"`
	Contracted capcli.USD `json:"contracted_usd"`
}

// State prices the use of a request. It fails with a *capcli.RequestError where the window
// leaves out use; with a *PortfolioError, a *RecordError or a *capcli.InputError for wrong
// input; with capcli.ErrOverflow where an amount does not fit; and with a
// *capcli.AccountingError where the payers do not add up to the invoice.
func State(r *Request) (*Statement, error) {
	if err := r.window(); err != nil {
		return nil, err
	}
	r.Use.MatchSpotPrices()
	hours, err := r.Use.Hours(false)
	if err != nil {
		return nil, err
	}
	bill, err := hours.Bill(&r.Portfolio, r.Grain)
	if err != nil {
		return nil, err
	}
	payers := bill.Chargeback()
	if err := payers.balance(bill); err != nil {
		return nil, err
	}
	t := &bill.Total
	s := &Statement{
		Schema: "capcli/bill/v1", Use: r.UseName, Portfolio: r.PortfolioName, Currency: bill.Currency, From: bill.From, To: bill.To,
		Total:  Totals{t.Billed, t.Effective, bill.Equivalent, t.Contracted},
		Unused: bill.UnusedCost(), Unallocated: payers.Unallocated, UnpaidCash: payers.UnpaidCash,
		Utilisation: orNil(bill.Utilisation()), Coverage: orNil(bill.Coverage()), Savings: orNil(bill.SavingsRate()),
		Commitments: slices.Clip(append([]CommitmentBill{}, bill.Commitments...)), Tenants: payers.Payers, Notes: bill.idleNotes(),
		Approval: r.Approvals.Signature(r.Portfolio.Units()), Bill: bill,
	}
	if r.Read.Format == "FOCUS" {
		s.Paid = &r.Read.Paid
	}
	if s.Months, err = bill.Months(&r.Portfolio); err != nil {
		return nil, err
	}
	if err := s.discount(r); err != nil {
		return nil, err
	}
	if err := s.look(r, hours); err != nil {
		return nil, err
	}
	return s, s.unitCosts(r)
}

// orNil returns a pointer to v where ok is set, else nil.
func orNil(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

// window sets the window of the use and checks the portfolio against it. The window never
// leaves out use, since that would leave out its cost. Where From or Until is not known, the
// window is widened to commitments that begin on the first day of the use or end on its last.
func (r *Request) window() error {
	const hint = "cut the file of use instead"
	u := r.Use
	first, last := u.From, u.To
	switch {
	case r.From.IsKnown() && r.From > first:
		return &capcli.RequestError{Field: "from", Text: fmt.Sprintf("%s leaves use out: it is from %s to %s", day(r.From), first, last), Hint: hint}
	case r.From.IsKnown():
		u.From = r.From
	}
	switch {
	case r.Until.IsKnown() && r.Until < last:
		return &capcli.RequestError{Field: "until", Text: fmt.Sprintf("%s leaves use out: it is from %s to %s", day(r.Until-1), u.From, last), Hint: hint}
	case r.Until.IsKnown():
		u.To = r.Until
	}
	if have, want := currencyOf(r.Portfolio.Currency), currencyOf(u.Currency); have != want {
		return &capcli.InputError{
			File: r.PortfolioName, Field: "currency", Text: fmt.Sprintf("the portfolio is in %s and the use in %s", have, want),
			Hint: "one currency per run: capcli knows no rates of exchange",
		}
	}
	first, last = u.From, u.To
	for i := range r.Portfolio.Commitments {
		c := &r.Portfolio.Commitments[i]
		if !r.From.IsKnown() && c.Start < u.From && c.Start >= floorTo(first, capcli.Day) {
			u.From = floorTo(c.Start, capcli.Hour)
		}
		if !r.Until.IsKnown() && c.End > u.To && c.End <= floorTo(last-1, capcli.Day)+capcli.Time(capcli.Day) {
			u.To = floorTo(c.End+capcli.Time(capcli.Hour)-1, capcli.Hour)
		}
	}
	return r.Portfolio.CheckWindow(u.From, u.To)
}

// floorTo returns the last multiple of a span at or before t.
func floorTo(t capcli.Time, span capcli.Seconds) capcli.Time {
	n := t % capcli.Time(span)
	if n < 0 {
		n += capcli.Time(span)
	}
	return t - n
}

func day(t capcli.Time) string { return t.Std().Format("2006-01-02") }

// balance checks that the payers add up to the invoice, to the millionth of a dollar.
func (c *Chargeback) balance(b *Bill) error {
	sum, cash := c.Unallocated, c.UnpaidCash
	for i := range c.Payers {
		sum += c.Payers[i].Total
		cash += c.Payers[i].Cash
	}
	if t := &b.Total; sum != t.Effective || cash != t.Billed {
		return &capcli.AccountingError{Err: fmt.Errorf("the invoice is %s amortised and %s in cash, its tenants sum to %s and %s", t.Effective.Decimal(), t.Billed.Decimal(), sum.Decimal(), cash.Decimal())}
	}
	return nil
}

// Money returns an amount in the currency of the bill, for a sentence.
func (b *Bill) Money(u capcli.USD) string {
	if b.Currency == "USD" {
		return u.String()
	}
	return u.Decimal() + " " + b.Currency
}

// idleNotes returns a note for each commitment with a term in the window that covered no use.
func (b *Bill) idleNotes() []string {
	out := []string{}
	for i := range b.Commitments {
		if k := &b.Commitments[i]; k.Share != nil && *k.Share == 0 && k.Used == 0 {
			out = append(out, fmt.Sprintf("commitment %s (%s) matches no use: nothing of the file is in its scope and its term, and all of its %s is unused", k.ID, k.Product, b.Money(k.Unused)))
		}
	}
	return out
}

// discount sets the present values where the request has a discount rate.
func (s *Statement) discount(r *Request) error {
	if r.Discount == nil {
		return nil
	}
	worth, err := s.Bill.PresentValue(*r.Discount)
	if err != nil {
		return err
	}
	rounded := capcli.USDOf(worth)
	s.Discount, s.Worth = r.Discount, &rounded
	for i := range r.Portfolio.Commitments {
		c := &r.Portfolio.Commitments[i]
		v, err := c.PresentValue(*r.Discount)
		if err != nil {
			continue
		}
		whole := capcli.USDOf(v)
		for k := range s.Commitments {
			if s.Commitments[k].ID == c.ID && s.Commitments[k].Start == c.Start {
				s.Commitments[k].Worth = &whole
			}
		}
	}
	return nil
}

// look compares the bill with the budget, by the day, and sets the energy of the use.
func (s *Statement) look(r *Request, hours *Hours) error {
	if r.Budget != nil {
		days, err := hours.Bill(&r.Portfolio, ByDay)
		if err != nil {
			return err
		}
		if s.Budget, err = r.Budget.Follow(days.Spending(days.Chargeback(), r.Budget.Cash)); err != nil {
			return err
		}
	}
	if r.Energy == nil {
		return nil
	}
	s.Notes = append(s.Notes, "* power is that of the use: each unit is taken for a GPU, and what nobody used is taken to draw none")
	var err error
	if s.Energy, err = r.Energy.OfUse(r.Use); err != nil {
		return &capcli.InputError{File: r.PortfolioName, Field: "energy.intensity", Text: err.Error(), Hint: "give a series that has every hour of some year, or a number"}
	}
	return nil
}

// Units returns the number of units that the commitments are for, rounded up. Commitments to
// money count 0.
func (p *Portfolio) Units() int64 {
	milli := int64(0)
	for i := range p.Commitments {
		milli += p.Commitments[i].Product.units()
	}
	return (milli + 999) / 1000
}

// Requests are the requests that the use served.
type Requests struct {
	Count  uint64   // total, where there is no series
	Series []Sample // requests over time; nil means not known
	Name   string   // name of the series, for notes
}

// ParseRequests parses a whole number of requests. For a text that is not a number it returns
// the zero Requests, since the text names a file. It fails with a *capcli.RequestError for 0, a
// negative number and a fraction.
func ParseRequests(text string) (Requests, error) {
	if f, err := strconv.ParseFloat(text, 64); err == nil && (f < 0 || f != math.Trunc(f)) {
		return Requests{}, &capcli.RequestError{Field: "requests", Text: fmt.Sprintf("wants a whole number of requests or a CSV file, found %q", text)}
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err == nil && n == 0 {
		return Requests{}, &capcli.RequestError{Field: "requests", Text: "0: the cost of a request is not known where none was served"}
	}
	if err != nil {
		return Requests{}, nil
	}
	return Requests{Count: n}, nil
}

// UnitCost is the effective cost of one unit: a unit-hour, a job, a thousand requests.
type UnitCost struct {
	Name  string       `json:"unit"` // unit_hour, job, job of class training, 1000_requests
	Count float64      `json:"count"`
	Cost  capcli.USD   `json:"cost_usd"`
	Per   *capcli.USD  `json:"per_unit_usd"`
	Month *capcli.Time `json:"month,omitempty"`
}

func (s *Statement) unitCosts(r *Request) error {
	total, used := s.Total.Effective, s.Bill.UsedTime()
	s.addUnit("unit_hour", used.Hours(), total, 3_600_000, uint64(used))
	jobs := map[string]bool{}
	for i := range r.Use.Lines {
		if j := r.Use.Lines[i].Job; j != "" {
			jobs[j] = true
		}
	}
	if n := len(jobs); n > 0 {
		s.addUnit("job", float64(n), total, 1, uint64(n))
	}
	if len(r.Read.Classes) > 0 {
		if err := s.classes(r); err != nil {
			return err
		}
	}
	switch q := &r.Requests; {
	case q.Series != nil:
		s.requestsByMonth(q)
	case q.Count > 0:
		s.addUnit("1000_requests", float64(q.Count)/1000, total, 1000, q.Count)
	}
	return nil
}

// addUnit adds a unit cost of cost x times / n; count is the number of units.
func (s *Statement) addUnit(name string, count float64, cost capcli.USD, times, n uint64) {
	u := UnitCost{Name: name, Count: count, Cost: cost}
	if per, ok := perUnit(cost, times, n); ok {
		u.Per = &per
	}
	s.Units = append(s.Units, u)
}

// classes adds the direct cost of a job of each class. Jobs bear no share of unused
// commitments.
func (s *Statement) classes(r *Request) error {
	hours, err := r.Use.Hours(true)
	if err != nil {
		return err
	}
	bill, err := hours.Bill(&r.Portfolio, InAll)
	if err != nil {
		return err
	}
	type class struct {
		name string
		cost capcli.USD
		jobs int
	}
	var list []*class
	by := map[string]*class{}
	for _, name := range r.Read.Classes {
		if by[name] == nil {
			by[name] = &class{name: name}
			list = append(list, by[name])
		}
		by[name].jobs++
	}
	for i := range bill.Rows {
		if row := &bill.Rows[i]; row.Job != "" && r.Read.Classes[row.Job] != "" {
			by[r.Read.Classes[row.Job]].cost += row.EffectiveCost
		}
	}
	slices.SortFunc(list, func(x, y *class) int { return cmp.Compare(x.name, y.name) })
	for _, c := range list {
		s.addUnit("job of class "+c.name, float64(c.jobs), c.cost, 1, uint64(c.jobs))
	}
	return nil
}

// requestsByMonth adds the cost of 1000 requests over the whole bill and, where the bill has
// more than one month, in each month.
func (s *Statement) requestsByMonth(q *Requests) {
	var sum uint64
	byMonth := make([]uint64, len(s.Months))
	outside := int64(0)
	for _, x := range q.Series {
		n := uint64(x.Value.Float() + 0.5)
		at := slices.IndexFunc(s.Months, func(m BillMonth) bool { return m.Start == monthOf(x.At) })
		if at < 0 || x.Value.Sign() < 0 {
			outside++
			continue
		}
		sum += n
		byMonth[at] += n
	}
	if outside > 0 {
		s.Notes = append(s.Notes, capcli.Grouped(outside)+" values of "+q.Name+" are left out: negative, or in no month of the bill")
	}
	s.addUnit("1000_requests", float64(sum)/1000, s.Total.Effective, 1000, sum)
	if len(s.Months) > 1 {
		for i, n := range byMonth {
			s.addUnit("1000_requests", float64(n)/1000, s.Months[i].Effective, 1000, n)
			s.Units[len(s.Units)-1].Month = &s.Months[i].Start
		}
	}
}
