package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/simulate/billing"
)

// unitCost is what one of something cost: a unit-hour, a job, a thousand
// requests.
type unitCost struct {
	Name  string       `json:"unit"` // unit_hour, job, job of class training, 1000_requests
	Count float64      `json:"count"`
	Cost  capcli.USD   `json:"cost_usd"`
	Per   *capcli.USD  `json:"per_unit_usd"`
	Month *capcli.Time `json:"month,omitempty"`
}

// unitCosts sets what one of each cost, of the effective cost in all.
func (b *billed) unitCosts(e *env, rec *billing.UseRecord) error {
	total := b.bill.Total.Effective
	used := b.bill.UsedTime()
	b.unit("unit_hour", used.Hours(), total, 3_600_000, uint64(used))
	jobs := map[string]bool{}
	for i := range rec.Lines {
		if j := rec.Lines[i].Job; j != "" {
			jobs[j] = true
		}
	}
	if n := len(jobs); n > 0 {
		b.unit("job", float64(n), total, 1, uint64(n))
	}
	if len(b.use.Classes) > 0 {
		if err := b.classes(rec); err != nil {
			return err
		}
	}
	return b.perRequest(e, total)
}

// unit adds cost x times / n for each of count.
func (b *billed) unit(name string, count float64, cost capcli.USD, times, n uint64) {
	u := unitCost{Name: name, Count: count, Cost: cost}
	if per, ok := billing.PerUnit(cost, times, n); ok {
		u.Per = &per
	}
	b.units = append(b.units, u)
}

// classes adds what the jobs of each class cost, direct: a job has no part in
// what nobody used.
func (b *billed) classes(rec *billing.UseRecord) error {
	hours, err := rec.Hours(true)
	if err != nil {
		return b.placed(err)
	}
	bill, err := hours.Bill(&b.portfolio.Portfolio, billing.InAll)
	if err != nil {
		return b.placed(err)
	}
	type class struct {
		name string
		cost capcli.USD
		jobs int
	}
	var list []*class
	by := map[string]*class{}
	for _, name := range b.use.Classes {
		if by[name] == nil {
			by[name] = &class{name: name}
			list = append(list, by[name])
		}
		by[name].jobs++
	}
	for i := range bill.Rows {
		if r := &bill.Rows[i]; r.Job != "" && b.use.Classes[r.Job] != "" {
			by[b.use.Classes[r.Job]].cost += r.EffectiveCost
		}
	}
	slices.SortFunc(list, func(x, y *class) int { return cmp.Compare(x.name, y.name) })
	for _, c := range list {
		b.unit("job of class "+c.name, float64(c.jobs), c.cost, 1, uint64(c.jobs))
	}
	return nil
}

// perRequest adds the cost of 1000 requests: in all, and by month where a file
// says when they came.
func (b *billed) perRequest(e *env, total capcli.USD) error {
	text := strings.TrimSpace(b.o.requests)
	if text == "" {
		return nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && (f < 0 || f != math.Trunc(f)) {
		return &usageError{text: fmt.Sprintf("--requests wants a whole number of requests or a CSV file, found %q", text)}
	}
	if n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 10, 64); err == nil {
		if n == 0 {
			return &usageError{text: "--requests 0: the cost of a request is not known where none was served"}
		}
		b.unit("1000_requests", float64(n)/1000, total, 1000, n)
		return nil
	}
	file, err := readFile(e, text, besideMax)
	if err != nil {
		return err
	}
	series, err := billing.ReadSeries(text, bytes.NewReader(file), billing.SeriesOptions{})
	if err != nil {
		return err
	}
	var sum uint64
	byMonth := make([]uint64, len(b.months))
	outside := 0
	for _, s := range series {
		n := uint64(s.Value.Float() + 0.5)
		at := slices.IndexFunc(b.months, func(m billing.BillMonth) bool { return sameMonth(m.Start, s.At) })
		if at < 0 || s.Value.Sign() < 0 {
			outside++
			continue
		}
		sum += n
		byMonth[at] += n
	}
	if outside > 0 {
		b.notes = append(b.notes, grouped(int64(outside))+" values of "+text+" are left out: negative, or in no month of the bill")
	}
	b.unit("1000_requests", float64(sum)/1000, total, 1000, sum)
	if len(b.months) > 1 {
		for i, n := range byMonth {
			b.unit("1000_requests", float64(n)/1000, b.months[i].Costs.Effective, 1000, n)
			b.units[len(b.units)-1].Month = &b.months[i].Start
		}
	}
	return nil
}

func sameMonth(a, b capcli.Time) bool {
	x, y := a.Std(), b.Std()
	return x.Year() == y.Year() && x.Month() == y.Month()
}

// parseDay reads a day of a flag; of the last one, its end.
func parseDay(flag, text string, last bool) (capcli.Time, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return capcli.NoTime, &usageError{text: flag + " wants a day such as 2027-01-31, found " + strconv.Quote(text)}
	}
	if last {
		t = t.AddDate(0, 0, 1)
	}
	return capcli.TimeOf(t), nil
}
