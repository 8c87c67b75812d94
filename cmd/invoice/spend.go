package invoice

import (
	"fmt"

	"capcli"
	"capcli/cmd/report"
	"capcli/scenarios/money/spend"
)

// Spend presents what was spent by period and group.
type Spend struct{ *spend.Result }

// shownPeriods is how many periods stand side by side.
const shownPeriods = 4

// Doc returns the tables of the spending, with a sentence before them.
func (d *Spend) Doc() report.Doc {
	tables := []report.Table{d.outlooks(), d.recent(), d.figures(), d.commitments(), d.periods()}
	for i := range tables {
		SetCurrency(&tables[i], d.Currency)
	}
	return report.Doc{Lead: d.lead(), Data: d.Result, Notes: d.Notes, Tables: tables}
}

// money returns an amount in the currency, for a sentence.
func (d *Spend) money(u capcli.USD) string {
	if d.Currency == "USD" {
		return u.String()
	}
	return u.Decimal() + " " + d.Currency
}

// lead sums up the month in one sentence.
func (d *Spend) lead() string {
	all := &d.Series[0].Outlook
	text := fmt.Sprintf("%s has cost %s", d.Month.Name, d.money(all.Spent))
	if d.Month.DaysLeft > 0 {
		text += fmt.Sprintf(" in %d of its %d days", d.Month.Days-d.Month.DaysLeft, d.Month.Days)
	}
	if all.Before != nil && *all.Before > 0 {
		text += ", " + moreOrLess(all.Spent.Float()/all.Before.Float()-1) + " than "
		if d.Month.DaysLeft > 0 {
			text += "the same days of "
		}
		text += "the month before"
	}
	switch {
	case d.Month.DaysLeft == 0 && all.Budget != nil:
		return fmt.Sprintf("%s; its budget is %s.", text, d.money(*all.Budget))
	case d.Month.DaysLeft == 0:
		return text + "."
	case all.Forecast == nil:
		return fmt.Sprintf("%s; no forecast: %s.", text, all.Why)
	}
	text += fmt.Sprintf("; it comes to %s (%s to %s with 80%%)", d.money(*all.Forecast), d.money(*all.Low), d.money(*all.High))
	if all.Budget != nil {
		text += fmt.Sprintf(" and passes its budget of %s with %.0f%%", d.money(*all.Budget), 100**all.Chance)
	}
	return text + "."
}

// moreOrLess says a change in words.
func moreOrLess(share float64) string {
	if share < 0 {
		return fmt.Sprintf("%.1f%% less", -100*share)
	}
	return fmt.Sprintf("%.1f%% more", 100*share)
}

// outlooks is the table of the running month, by series.
func (d *Spend) outlooks() report.Table {
	type row = *spend.Series
	amount := func(u *capcli.USD) any {
		if u == nil {
			return nil
		}
		return *u
	}
	columns := []report.Field[row]{
		{Name: "by"},
		{Name: "name"},
		{Name: "spent_usd", Head: "spent", Cell: func(s row) any { return s.Outlook.Spent }},
		{Name: "same_days_before_usd", Head: "same days before", Priority: 2, Cell: func(s row) any { return amount(s.Outlook.Before) }},
		{Name: "change_share", Head: "change", Cell: func(s row) any {
			if o := &s.Outlook; o.Before != nil && *o.Before > 0 {
				return report.Percent(o.Spent.Float()/o.Before.Float() - 1)
			}
			return nil
		}},
		{Name: "forecast_usd", Head: "forecast", Cell: func(s row) any { return amount(s.Outlook.Forecast) }},
		{Name: "forecast_lo_80_usd", Head: "80% from", Priority: 1, Cell: func(s row) any { return amount(s.Outlook.Low) }},
		{Name: "forecast_hi_80_usd", Head: "80% to", Priority: 1, Cell: func(s row) any { return amount(s.Outlook.High) }},
		{Name: "budget_usd", Head: "budget", Cell: func(s row) any { return amount(s.Outlook.Budget) }},
		{Name: "chance_over_budget", Head: "over it", Cell: func(s row) any { return percent(s.Outlook.Chance) }},
		{Name: "last_day_usd", Head: "last day", Priority: 3, Cell: func(s row) any { return amount(s.Outlook.LastDay) }},
	}
	return report.Fill(report.Table{Name: "spend", Title: d.Month.Name + ", " + d.View}, d.rows(), columns)
}

func (d *Spend) rows() []*spend.Series {
	out := make([]*spend.Series, len(d.Series))
	for i := range d.Series {
		out[i] = &d.Series[i]
	}
	return out
}

// recent is the table of the last periods, side by side.
func (d *Spend) recent() report.Table {
	n := len(d.Periods)
	columns := []report.Field[*spend.Series]{{Name: "by"}, {Name: "name"}}
	for ago := min(n, shownPeriods) - 1; ago >= 0; ago-- {
		p := &d.Periods[n-1-ago]
		f := report.Field[*spend.Series]{Name: fmt.Sprintf("ago_%d_usd", ago), Head: p.Name, Cell: func(s *spend.Series) any { return s.Periods[n-1-ago].Cost }}
		if ago == 0 {
			f.Name = "last_usd"
		}
		if !p.Whole {
			f.Head += "*"
		}
		columns = append(columns, f)
	}
	columns = append(columns, report.Field[*spend.Series]{Name: "change_share", Head: "change", Cell: func(s *spend.Series) any { return percent(s.Periods[n-1].Share) }})
	return report.Fill(report.Table{Name: "recent", Title: "the last " + d.Grain + "s; * not whole: its change is against as many days of the one before"}, d.rows(), columns)
}

// figures is the table of what the month says of all commitments together.
func (d *Spend) figures() report.Table {
	return report.Figures("month", d.Result, []report.Field[*spend.Result]{
		{Name: "days_left", Head: "days left of " + d.Month.Name, Cell: func(r *spend.Result) any { return int64(r.Month.DaysLeft) }},
		{Name: "unused_usd", Head: "unused commitments", Cell: func(r *spend.Result) any { return r.Month.Unused }},
		{Name: "commitment_utilisation", Head: "utilisation", Cell: func(r *spend.Result) any { return percent(r.Month.Used) }},
		{Name: "commitment_coverage", Head: "coverage", Cell: func(r *spend.Result) any { return percent(r.Month.Coverage) }},
	})
}

func percent(share *float64) any {
	if share == nil {
		return nil
	}
	return report.Percent(*share)
}

func (d *Spend) commitments() report.Table {
	return report.Fill(report.Table{Name: "commitments", Title: "commitments in " + d.Month.Name, Aside: len(d.Commitments) == 0}, d.Commitments, []report.Field[spend.Commitment]{
		{Name: "id"},
		{Name: "product", Priority: 1},
		{Name: "used_usd", Head: "used"},
		{Name: "unused_usd", Head: "unused"},
		{Name: "utilisation", Head: "used %", As: report.AsPercent},
	})
}

// periods is the table of every series in every period.
func (d *Spend) periods() report.Table {
	type row struct {
		s *spend.Series
		p *spend.Period
		*spend.Cost
	}
	var rows []row
	for i := range d.Series {
		for k := range d.Periods {
			rows = append(rows, row{&d.Series[i], &d.Periods[k], &d.Series[i].Periods[k]})
		}
	}
	return report.Fill(report.Table{Name: "periods", Title: "by " + d.Grain, Aside: true}, rows, []report.Field[row]{
		{Name: "by", Cell: func(r row) any { return r.s.By }},
		{Name: "name", Cell: func(r row) any { return r.s.Name }},
		{Name: "period", Cell: func(r row) any { return r.p.Name }},
		{Name: "whole", Cell: func(r row) any { return r.p.Whole }},
		{Name: "cost_usd", Cell: func(r row) any { return r.Cost.Cost }},
		{Name: "change_usd", Cell: func(r row) any {
			if r.Change == nil {
				return nil
			}
			return *r.Change
		}},
		{Name: "change_share", Cell: func(r row) any { return percent(r.Share) }},
	})
}
