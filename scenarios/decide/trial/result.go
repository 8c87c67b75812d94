package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan/backtest"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/prices"
)

// Result is the document of a backtest of decisions. Shares are of the cost of hindsight.
type Result struct {
	Schema   string          `json:"schema"`
	Currency string          `json:"currency"`
	Answer   string          `json:"answer"` // one sentence for each term
	Input    string          `json:"input"`
	Start    market.Instant  `json:"start"`
	End      market.Instant  `json:"end"`
	Step     string          `json:"step"`
	Model    string          `json:"model"`
	Paths    int             `json:"paths"`
	Seed     uint64          `json:"seed"`
	Prices   string          `json:"prices"` // flat: those of the origin; dated
	Market   market.Document `json:"market"`
	Terms    []Term          `json:"terms"`
	Notes    []string        `json:"notes"`

	Assumptions []prices.Assumption `json:"assumptions"`

	Partial string `json:"-"` // what is missing; "" is nothing
}

// Term is the trial of one term. Rules are in the order of their summed cost.
type Term struct {
	Name    string   `json:"term"`
	Horizon string   `json:"horizon"` // how much of the term counts; "" is all of it
	Rolled  string   `json:"rolled"`  // for how long it is bought again at each expiry; "" is once
	Rules   []Rule   `json:"rules"`
	Origins []Origin `json:"origins"`
	Missing int      `json:"origins_not_tried"` // for want of time
}

// Rule is what one rule cost over all origins. Origins where hindsight costs nothing have no share.
type Rule struct {
	Term      string     `json:"term"`
	Name      string     `json:"rule"`
	Doc       string     `json:"decides_by"`
	Cost      capcli.USD `json:"cost_usd"`
	Hindsight capcli.USD `json:"hindsight_usd"`
	Regret    capcli.USD `json:"regret_usd"`
	Share     *float64   `json:"regret_share"` // of the summed costs
	Mean      *float64   `json:"regret_share_mean"`
	P90       *float64   `json:"regret_share_p90"`
	Worst     *float64   `json:"regret_share_worst"`
	Promised  int        `json:"ranges_promised"` // origins with a range of 80 % for the cost
	Held      int        `json:"ranges_held"`
}

// Origin is one date on which the rules were asked.
type Origin struct {
	At        market.Instant `json:"origin"`
	End       market.Instant `json:"end"`
	GPUs      []float64      `json:"hindsight_gpus"` // by purchase
	Hindsight capcli.USD     `json:"hindsight_usd"`
	Bought    []Bought       `json:"bought"` // in the order of the term's rules
}

// Bought is what a rule bought at an origin. GPUs has one value for each purchase, and for rules
// that may buy at any step the number of all purchases.
type Bought struct {
	Rule   string      `json:"rule"`
	GPUs   []float64   `json:"gpus"`
	Cost   capcli.USD  `json:"cost_usd"`
	Regret capcli.USD  `json:"regret_usd"`
	Share  *float64    `json:"regret_share"`
	Low    *capcli.USD `json:"promised_low_usd"`
	High   *capcli.USD `json:"promised_high_usd"`
}

func newResult(q *Question, d *curve.Demand, f *market.Frame) *Result {
	out := &Result{
		Schema: "capcli/plan_backtest/v1", Currency: "USD", Input: d.Input, Start: f.Instant(0), End: f.Instant(f.Curve.Len()), Step: f.Curve.Step.String(),
		Model: q.Model, Paths: q.Paths, Seed: uint64(q.Seed), Prices: "dated", Market: f.Document(), Terms: []Term{}, Notes: append([]string{}, d.Notes...),
		Assumptions: []prices.Assumption{}, Partial: d.Partial,
	}
	if q.Flat {
		out.Prices = "flat"
	}
	if q.sketch != nil {
		out.Assumptions = append(out.Assumptions, q.sketch.Assumed...)
	}
	return out
}

func newTerm(f *market.Frame, b *backtest.Question, trials []backtest.Trial) *Term {
	out := &Term{Name: f.Market.Terms[b.Term].Name, Missing: len(b.Origins) - len(trials)}
	if b.Horizon.Length() > 0 {
		out.Horizon = b.Horizon.String()
	}
	if b.Rolled.Length() > 0 {
		out.Rolled = b.Rolled.String()
	}
	sums := backtest.Summarise(b.Rules, trials)
	order := make([]int, len(sums))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(max(-1, min(1, sums[i].Cost-sums[j].Cost))) })
	for _, k := range order {
		s := &sums[k]
		out.Rules = append(out.Rules, Rule{
			Term: out.Name, Name: s.Name, Doc: b.Rules[k].Doc, Cost: s.Cost, Hindsight: s.Best, Regret: s.Regret(),
			Share: finite(s.Share()), Mean: finite(s.Mean), P90: finite(s.P90), Worst: finite(s.Most), Promised: s.Promised, Held: s.Held,
		})
	}
	lot := max(1, f.Market.Lot)
	if f.Market.Lot == 0 {
		lot = 1000
	}
	gpus := func(lots []int64) []float64 {
		out := make([]float64, len(lots))
		for i, n := range lots {
			out[i] = market.GPUs(n * lot)
		}
		return out
	}
	for i := range trials {
		t := &trials[i]
		o := Origin{At: f.Instant(t.At), End: f.Instant(t.End), GPUs: gpus(t.Best.Lots), Hindsight: t.Best.Cost}
		for _, k := range order {
			r := &t.Rule[k]
			one := Bought{Rule: b.Rules[k].Name, GPUs: gpus(r.Lots), Cost: r.Cost, Regret: r.Cost - t.Best.Cost, Share: market.Share(r.Cost-t.Best.Cost, t.Best.Cost)}
			if r.Promise != nil {
				one.Low, one.High = &r.Promise[0], &r.Promise[1]
			}
			o.Bought = append(o.Bought, one)
		}
		out.Origins = append(out.Origins, o)
	}
	return out
}

func finite(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// Line is one origin of one term in a table: what the forecast and the 30-day rule bought, in the
// mean of their purchases.
type Line struct {
	Term      string         `json:"term"`
	Origin    market.Instant `json:"origin"`
	Hindsight float64        `json:"hindsight_gpus"`
	GPUs      float64        `json:"gpus"`
	Cost      capcli.USD     `json:"cost_usd"`
	Regret    capcli.USD     `json:"regret_usd"`
	Share     *float64       `json:"regret_share"`
	Usual     float64        `json:"rule_30_gpus"`
	UsualOver *float64       `json:"rule_30_regret_share"`
}

// Rules returns the rules of all terms.
func (r *Result) Rules() []Rule {
	var out []Rule
	for i := range r.Terms {
		out = append(out, r.Terms[i].Rules...)
	}
	return out
}

// Lines returns the origins of all terms.
func (r *Result) Lines() []Line {
	var out []Line
	for i := range r.Terms {
		for k := range r.Terms[i].Origins {
			o := &r.Terms[i].Origins[k]
			l := Line{Term: r.Terms[i].Name, Origin: o.At, Hindsight: mean(o.GPUs)}
			for _, b := range o.Bought {
				switch b.Rule {
				case ruleName:
					l.GPUs, l.Cost, l.Regret, l.Share = mean(b.GPUs), b.Cost, b.Regret, b.Share
				case usualName:
					l.Usual, l.UsualOver = mean(b.GPUs), b.Share
				}
			}
			out = append(out, l)
		}
	}
	return out
}

// mean returns the mean of v, rounded to a tenth.
func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return math.Round(10*sum/float64(len(v))) / 10
}

// Rule returns the row of a rule, nil where there is none.
func (t *Term) Rule(name string) *Rule {
	if i := slices.IndexFunc(t.Rules, func(r Rule) bool { return r.Name == name }); i >= 0 {
		return &t.Rules[i]
	}
	return nil
}

// Forecast returns the row of the decision by the forecast.
func (t *Term) Forecast() *Rule { return t.Rule(ruleName) }

func (r *Result) sentences() string {
	var out []string
	for i := range r.Terms {
		out = append(out, r.Terms[i].sentence(len(r.Terms) > 1))
	}
	return strings.Join(out, " ")
}

// sentence says in one sentence what the decision would have cost.
func (t *Term) sentence(named bool) string {
	own, rule := t.Forecast(), t.Rule(usualName)
	dates := "on an earlier date"
	if n := len(t.Origins); n > 1 {
		dates = fmt.Sprintf("on %d earlier dates", n)
	}
	which := ""
	if named {
		which = " about " + t.Name
	}
	if own.Share == nil {
		return fmt.Sprintf("Asked%s %s, nothing was wanted, and this would have cost %s.", which, dates, own.Cost.Brief())
	}
	return fmt.Sprintf("Asked%s %s, this would have cost %s more than hindsight, the 30-day rule %s.", which, dates, percent(*own.Share), percent(*rule.Share))
}

// percent writes a share in percent: whole ones from 10 % on.
func percent(v float64) string {
	if v >= 0.0995 {
		return fmt.Sprintf("%.0f %%", 100*v)
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}
