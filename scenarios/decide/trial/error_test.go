package trial

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/backtest"
)

// judged is how far a forecast was off, summed over dates. The level is the mean demand over the term.
type judged struct {
	dates, came float64 // number of dates, and the levels that came
	level       float64 // absolute errors of the level
	held        float64 // dates at which the 80 % range of the level holds what came
	loss        float64 // quantile loss of what was bought at the quantile 1 - r/p, above that of hindsight
}

// compare sets what futures of the steps of p said against what came.
func compare(p *backtest.Past, paths [][]float64, gpus float64) judged {
	came := make([]float64, p.Steps)
	for i := range came {
		came[i] = p.Curve.GPUs(p.Now + i)
	}
	levels := make([]float64, len(paths))
	for k, path := range paths {
		levels[k] = model.Mean(path)
	}
	slices.Sort(levels)
	level, q := model.Mean(came), 1-float64(p.Paid)/float64(p.Open)
	out := judged{dates: 1, came: level, level: math.Abs(model.Mean(levels) - level)}
	if model.Quantile(levels, 0.1) <= level && level <= model.Quantile(levels, 0.9) {
		out.held = 1
	}
	sorted := slices.Sorted(slices.Values(came))
	best := sorted[int(q*float64(len(sorted)))]
	out.loss = pinball(came, gpus, q) - pinball(came, best, q)
	return out
}

// pinball is the mean quantile loss of k as the quantile q of v.
func pinball(v []float64, k, q float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += max(q*(x-k), (q-1)*(x-k)) / float64(len(v))
	}
	return sum
}

// purchases are the ways to buy by futures: at their mean level, at the quantile that costs least over all of
// their hours, and at either end of the 80 % range of their level. The first notes what the errors were.
func purchases(q *Question, note func(judged)) []backtest.Rule {
	at := func(name string, share float64) backtest.Rule {
		return backtest.Rule{Name: name, Decide: func(p *backtest.Past) (backtest.Decision, error) {
			paths, err := q.futures(p)
			if err != nil {
				return backtest.Decision{}, err
			}
			levels := make([]float64, len(paths))
			for k, path := range paths {
				levels[k] = model.Mean(path)
			}
			slices.Sort(levels)
			gpus := model.Mean(levels)
			if share > 0 {
				gpus = model.Quantile(levels, share)
			}
			return backtest.Decision{Lots: int64(math.Round(1000*gpus)) / p.Lot}, nil
		}}
	}
	quantile := backtest.Rule{Name: "quantile", Decide: func(p *backtest.Past) (backtest.Decision, error) {
		paths, err := q.futures(p)
		if err != nil {
			return backtest.Decision{}, err
		}
		d, err := p.Choose(paths)
		if err == nil {
			note(compare(p, paths, float64(d.Lots*p.Lot)/1000))
		}
		return d, err
	}}
	return []backtest.Rule{quantile, at("level", 0), at("low end", 0.1), at("high end", 0.9)}
}

// judge returns the errors of futures from some dates, and the regret of each purchase.
func judge(t *testing.T, c *plan.Curve, term capcli.Step, share float64, dates int) (judged, []backtest.Summary) {
	t.Helper()
	var all judged
	own := &Question{Request: Request{Model: DefaultModel, Paths: pathsUsual, Seed: 1}}
	q := &backtest.Question{Curve: c, Market: floating(term, share), Flat: true}
	q.Rules = purchases(own, func(j judged) {
		all.dates, all.came, all.level, all.held, all.loss = all.dates+j.dates, all.came+j.came, all.level+j.level, all.held+j.held, all.loss+j.loss
	})
	q.Rules = append(q.Rules, backtest.Rules()[slices.IndexFunc(backtest.Rules(), func(r backtest.Rule) bool { return r.Name == usualName })])
	q.Origins = datesOf(q, 28*capcli.Day, dates)
	var sums []backtest.Summary
	for _, at := range q.Origins { // one by one: the errors are noted by one at a time
		one := *q
		one.Origins = []capcli.Seconds{at}
		trials, err := one.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		own := backtest.Summarise(q.Rules, trials)
		if sums == nil {
			sums = own
			continue
		}
		for i := range sums {
			sums[i].Cost, sums[i].Best = sums[i].Cost+own[i].Cost, sums[i].Best+own[i].Best
		}
	}
	return all, sums
}

// TestErrorBesideRegret prints, for each set of docs/backtest.md, forecast errors beside the regret of what is
// bought by them. CAPCLI_LONG=1 with -v runs it in minutes, CAPCLI_SETS chooses by name; else it checks the figures on a demand that is known.
func TestErrorBesideRegret(t *testing.T) {
	if os.Getenv("CAPCLI_LONG") == "" {
		gpus := make([]float64, 24*120)
		for i := range gpus {
			gpus[i] = 10 + 10*float64(i%2) // half of the hours 10, half 20
		}
		c := curveOf(t, capcli.TimeOf(snowflakeStart), gpus)
		errors, sums := judge(t, c, capcli.Step{Months: 1}, 0.6, 3)
		if max(errors.level/errors.came, errors.loss/errors.came, sums[0].Share()) > 0.01 || errors.dates != 3 {
			t.Errorf("hours that repeat: level off by %.3f, quantile loss %.4f, regret %.4f; want under a hundredth each: futures wander a little", errors.level/errors.came, errors.loss/errors.came, sums[0].Share())
		}
		// At 0.6 of the price 10 GPUs are best: an hour costs 6 + 5. 15 of them cost 9 + 2.5.
		if got := sums[1].Share(); math.Abs(got-0.5/11) > 0.002 {
			t.Errorf("the level is bought: regret %.4f, want 0.5 of 11", got)
		}
		return
	}
	fmt.Println("| set | level off, % | level in its 80 % range | regret: at the level | at the low end | at the high end | quantile loss above the best, % of the level | regret: at the quantile | 30 days' break-even |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	only := os.Getenv("CAPCLI_SETS")
	show := func(name string, c *plan.Curve, term capcli.Step, share float64) {
		if only != "" && !strings.Contains(","+only+",", ","+name+",") {
			return
		}
		e, s := judge(t, c, term, share, 24)
		fmt.Printf("| %s | %.1f | %.2f | %s | %s | %s | %.2f | %s | %s |\n", name, 100*e.level/e.came, e.held/e.dates, shareText(&s[1]), shareText(&s[2]), shareText(&s[3]), 100*e.loss/e.came, shareText(&s[0]), shareText(&s[4]))
	}
	series := readSnowflake(t)
	month, year := capcli.Step{Months: 1}, capcli.Step{Months: 12}
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if strings.HasPrefix(name, "region-") || strings.HasPrefix(name, "type-") {
			show("Snowflake "+name, series[name], month, 0.6)
		}
	}
	for _, log := range jobLogs {
		show(log.name, readLog(t, log.path...), month, 0.6)
	}
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if strings.HasPrefix(name, "region-") || strings.HasPrefix(name, "type-") {
			show("a year: Snowflake "+name, series[name], year, 0.63)
		}
	}
}
