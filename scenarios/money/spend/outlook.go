package spend

import (
	"errors"
	"fmt"
	"slices"

	"capcli"
	"capcli/forecast"
	"capcli/forecast/model"
)

const (
	leastDays = 14   // whole days of cost below which nothing is forecast
	futures   = 1000 // drawn futures of the rest of the month
	season    = 7    // days
)

// Outlook is the month of one series: what was spent, what it will come to, and its budget.
//
// The forecast is that of the daily cost: futures of the days that are left are drawn together, so
// that a sum of days errs as much as days that go together do. Forecast is the mean of the sums of
// the futures and of what was spent, Low and High their 10 and 90 % quantiles. They are nil, and Why
// says so, where less is known than it takes.
type Outlook struct {
	Spent    capcli.USD  `json:"spent_usd"`
	Before   *capcli.USD `json:"same_days_before_usd"` // of the month before; nil where the window lacks them
	LastDay  *capcli.USD `json:"last_day_usd"`         // the last whole day; nil where there is none
	Forecast *capcli.USD `json:"forecast_usd"`
	Low      *capcli.USD `json:"forecast_lo_80_usd"`
	High     *capcli.USD `json:"forecast_hi_80_usd"`
	Why      string      `json:"no_forecast,omitempty"`
	Budget   *capcli.USD `json:"budget_usd,omitempty"`
	Chance   *float64    `json:"chance_over_budget,omitempty"` // share of the futures that pass the budget
}

func (w *watch) outlook(s *named) (Outlook, error) {
	out := Outlook{Spent: s.sum(w.monthOf[0], w.monthOf[1])}
	previous := dayOf(previousPeriod("month", w.monthOf[0].start()))
	if _, before, ok := w.alike(w.monthOf[0], w.monthOf[1], previous); ok {
		then := s.sum(before[0], before[1])
		out.Before = &then
	}
	if last := w.whole[1] - 1; last >= w.whole[0] {
		cost := s.sum(last, last+1)
		out.LastDay = &cost
	}
	for i := range w.Budgets {
		if b := &w.Budgets[i]; b.By == s.by && b.Name == s.name {
			out.Budget = &b.Amount
		}
	}
	sums, why, err := w.monthSums(s)
	if err != nil {
		return out, err
	}
	if out.Why = why; why != "" {
		return out, nil
	}
	mean := 0.0
	over := 0
	for _, v := range sums {
		mean += v / float64(len(sums))
		if out.Budget != nil && roundUSD(v) > *out.Budget {
			over++
		}
	}
	low, high, middle := roundUSD(model.Quantile(sums, 0.1)), roundUSD(model.Quantile(sums, 0.9)), roundUSD(mean)
	out.Forecast, out.Low, out.High = &middle, &low, &high
	if out.Budget != nil {
		chance := float64(over) / float64(len(sums))
		out.Chance = &chance
	}
	return out, nil
}

// monthSums returns possible costs of the whole month in dollars, sorted; or why there are none.
func (w *watch) monthSums(s *named) (sums []float64, why string, err error) {
	left := int(w.monthOf[1]-w.monthOf[0]) - w.overDays
	spent := s.sum(w.monthOf[0], w.monthOf[1])
	if left == 0 {
		return []float64{spent.Float()}, "", nil
	}
	past := w.pastCost(s)
	if n := int64(len(past.Values)); n < leastDays {
		return nil, fmt.Sprintf("%d whole %s of cost, %d are needed", n, capcli.Plural(n, "day"), leastDays), nil
	}
	newModel, err := forecast.Models.Get(w.Model)
	if err != nil {
		return nil, "", err
	}
	fit, err := newModel(forecast.Options{Seasons: []int{season}, Seed: w.Seed}).Fit(past)
	if err != nil {
		if errors.Is(err, model.ErrTooShort) || errors.Is(err, model.ErrUnfit) {
			return nil, err.Error(), nil
		}
		return nil, "", err
	}
	floor := slices.Min(past.Values) >= 0
	over := s.sum(w.monthOf[0], w.whole[1]).Float()
	rng := w.Seed.Stream("spend") // the same for all: series that are alike have one forecast
	for range futures {
		sum := over
		for _, v := range fit.Path(left, rng) {
			if floor {
				v = max(v, 0)
			}
			sum += v
		}
		if floor {
			sum = max(sum, spent.Float()) // a day that is not yet over has cost something already
		}
		sums = append(sums, sum)
	}
	slices.Sort(sums)
	if v := sums[len(sums)-1]; !model.IsFinite(v) || v > 1e12 {
		return nil, "the model " + w.Model + " does not settle on the past", nil
	}
	return sums, "", nil
}

// pastCost returns the cost of the whole days in dollars, from the first that cost anything.
func (w *watch) pastCost(s *named) capcli.Series {
	out := capcli.Series{Name: s.name, Step: capcli.Day}
	for d := w.whole[0]; d < w.whole[1]; d++ {
		u := s.cost[d-s.first]
		if u == 0 && len(out.Values) == 0 {
			continue
		}
		if len(out.Values) == 0 {
			out.Start = d.start()
		}
		out.Values = append(out.Values, u.Float())
	}
	return out
}
