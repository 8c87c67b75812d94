package paper_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// holdForm is the end of a sentence on numbers of GPUs: which hold the limits, and which break one.
const holdForm = `(?:[Nn]o limit breaks from {na:n} to {nb:n}|[Nn]o number from {xa:n} to {xb:n} holds the limits|(?:{ha:n} to {hb:n} hold|[Oo]nly {ho:n} holds) the limits(?P<gaps>, though not every number between)?)` +
	`(?:; up to {undone:n} more work is left undone than is allowed, which makes the cost low)?` +
	`(?:; {few:n} and fewer break a limit \({fewwhy:t}\))?(?:; {many:n} and more break a limit \({manywhy:t}\))?`

var claims = []claim{
	{"service-promise", form(`With {n:n} replicas \S+ is (?:{v:w}|{vs:s})(?:, and|;) the promise is (?:{p:w}|{ps:s})(?:; with {m:n} it is (?:{w:w}|{ws:s}))?`), func(c *checker) {
		s := &c.fig.Series[0]
		k := len(s.X) - 1
		if len(s.Chosen) > 0 {
			k = s.Chosen[0]
		}
		either := func(time, share string, v float64) {
			if c.groups[time] != "" {
				share = time
			}
			c.equal(share, v)
		}
		c.equal("n", float64(s.X[k]))
		either("v", "vs", float64(s.Y[k]))
		either("p", "ps", c.mark("y"))
		if k > 0 {
			c.equal("m", float64(s.X[k-1]))
			either("w", "ws", float64(s.Y[k-1]))
		}
	}},
	{"service-hours", form(`{high:t} needs the most with {most:n} GPUs, and {low:t} the fewest with {least:n}(?:; {held:n} are reserved, and the rest scales)?`), func(c *checker) {
		s := &c.fig.Series[0]
		hi, lo := extremeOf(s.Y, isAbove), extremeOf(s.Y, func(a, b float64) bool { return a < b })
		c.equal("most", float64(s.Y[hi]))
		c.equal("least", float64(s.Y[lo]))
		c.word("high", c.fig.X.Names[hi])
		c.word("low", c.fig.X.Names[lo])
		if c.groups["held"] != "" {
			c.equal("held", c.mark("y"))
		}
	}},
	{"service-cost", form(`{name:t} is cheapest with {cost:m} for a million tokens`), func(c *checker) {
		s := &c.fig.Series[0]
		k := extremeOf(s.Y, func(a, b float64) bool { return a < b })
		c.equal("cost", float64(s.Y[k]))
		c.word("name", c.fig.X.Names[k])
	}},
	{"service-growth", form(`At {load:t} the load it needs {gpus:n} GPUs; today's size keeps the promises up to {holds:n} times this load(?:, the most that was tried|, and at {breaks:n} times .+ breaks)`), func(c *checker) {
		s := &c.fig.Series[0]
		last := len(s.Y) - 1
		c.equal("gpus", float64(s.Y[last]))
		c.word("load", c.fig.X.Names[last])
	}},
	{"service-times", form(`99% of the answers of {name:t} begin within {v:w}(?:, the slowest of {n:n} services)?`), func(c *checker) {
		s := c.series("99% within")
		k := extremeOf(s.Y, isAbove)
		c.word("name", c.fig.X.Names[k])
		c.equal("v", float64(s.Y[k]))
		c.equal("n", float64(len(s.Y)))
	}},
	{"service-unit-costs", form(`With {name:t} 1,000 requests cost {req:m} and a million tokens {tok:m}(?:, the most for requests of {n:n} services)?`), func(c *checker) {
		s := c.series("1,000 requests")
		k := extremeOf(s.Y, isAbove)
		c.word("name", c.fig.X.Names[k])
		c.equal("req", float64(s.Y[k]))
		c.equal("tok", float64(c.series("A million tokens").Y[k]))
		c.equal("n", float64(len(s.Y)))
	}},
	{"cost-by-size", form(`{gpus:n} GPUs cost {cost:m}; none cost {none:m}, and {most:n} cost {mostcost:m}(?:\. {least:n} to {top:n} GPUs cost the same within the noise)?`), func(c *checker) {
		s := &c.fig.Series[0]
		k, last := s.Chosen[0], len(s.X)-1
		c.equal("gpus", float64(s.X[k]))
		c.equal("cost", float64(s.Y[k]))
		c.equal("none", float64(s.Y[0]))
		c.equal("most", float64(s.X[last]))
		c.equal("mostcost", float64(s.Y[last]))
		if s.X[0] != 0 || extremeOf(s.Y, func(a, b float64) bool { return a < b }) != k {
			c.Errorf("%s: the sizes start at %v, and the least cost is not that of the plan", c.fig.ID, s.X[0])
		}
	}},
	{"regret-by-rule", form(`On {n:n} earlier dates the {own:t} would have cost {share:s} more than hindsight; the best of the other rules is {rule:t}, with {other:s}`), func(c *checker) {
		s := &c.fig.Series[0]
		k := s.Chosen[0]
		c.equal("share", float64(s.Y[k]))
		c.word("own", c.fig.X.Names[k])
		least := math.Inf(1)
		for i, v := range s.Y {
			if i != k && float64(v) < least {
				least = float64(v)
				c.word("rule", c.groups["rule"])
			}
		}
		c.equal("other", least)
	}},
	{"cost-by-reserved", form(`(?:{gpus:n} reserved GPUs cost {cost:m} a year(?: \({lo:m} to {hi:m}(?: in 90% of |, the lowest and highest of ){runs:n} runs?\))?(?:, {gap:s} above the lower bound of {bound:m})?; )?` + holdForm), checkSizes},
	{"wait-by-reserved", form(`(?:With the chosen {gpus:n} GPUs the p95 wait is {wait:w}(?: \({lo:w} to {hi:w}\))?; )?[Ww]ith {a:n} it is {wa:w}, with {b:n} it is {wb:w}(?:; the limit is {limit:w})?`), func(c *checker) {
		s := &c.fig.Series[0]
		if len(s.Chosen) > 0 {
			c.equal("gpus", float64(s.X[s.Chosen[0]]))
			c.equal("wait", float64(s.Y[s.Chosen[0]]))
			if s.Lo != nil {
				c.equal("lo", float64(s.Lo[s.Chosen[0]]))
				c.equal("hi", float64(s.Hi[s.Chosen[0]]))
			}
		} else if c.groups["gpus"] != "" {
			c.Errorf("%s names a chosen number, its data have none", c.fig.ID)
		}
		first := slices.IndexFunc(s.Y, func(v num) bool { return v == v })
		last := len(s.Y) - 1
		for s.Y[last] != s.Y[last] {
			last--
		}
		c.equal("a", float64(s.X[first]))
		c.equal("wa", float64(s.Y[first]))
		c.equal("b", float64(s.X[last]))
		c.equal("wb", float64(s.Y[last]))
		c.equal("limit", c.mark("y"))
	}},
	{"use-by-tier", form(`Demand is above the committed GPUs in {over:n} of {n:n} steps \({share:s} of the time\); it peaks at {peak:n} GPUs on {day:d}, with {held:n} committed`), func(c *checker) {
		demand, held := c.series("Demand (unconstrained)"), c.series("Committed GPUs")
		over := 0.0
		for i := range demand.Y {
			if demand.Y[i] > held.Y[i] {
				over++
			}
		}
		k := extremeOf(demand.Y, isAbove)
		c.equal("over", over)
		c.equal("n", float64(len(demand.Y)))
		c.equal("share", over/float64(len(demand.Y)))
		c.equal("peak", float64(demand.Y[k]))
		c.equal("day", float64(demand.X[k]))
		c.equal("held", float64(held.Y[k]))
	}},
	{"use-by-tier", form(`GPUs in use are above the committed GPUs in {over:n} of {n:n} steps \({share:s} of the time\); they peak at {peak:n} GPUs on {day:d}, with {held:n} committed`), func(c *checker) {
		held := c.series("Committed GPUs")
		used := make([]num, len(held.Y))
		for _, s := range c.fig.Series {
			for i, v := range s.Y {
				if !s.Over {
					used[i] += v
				}
			}
		}
		over := 0.0
		for i := range used {
			if used[i] > held.Y[i] {
				over++
			}
		}
		k := extremeOf(used, isAbove)
		c.equal("over", over)
		c.equal("n", float64(len(used)))
		c.equal("share", over/float64(len(used)))
		c.equal("peak", float64(used[k]))
		c.equal("day", float64(held.X[k]))
		c.equal("held", float64(held.Y[k]))
	}},
	{"stranded", form(`Over the steps shown {all:s} of the committed GPU time was stranded; {idle:s} idle, {blocked:s} blocked \(jobs waited that could not start there\), {down:s} down`), func(c *checker) {
		base := total(c.series("Committed GPUs").Y)
		idle, blocked, down := total(c.series("Idle").Y), total(c.series("Blocked").Y), total(c.series("Down").Y)
		c.equal("all", (idle+blocked+down)/base)
		c.equal("idle", idle/base)
		c.equal("blocked", blocked/base)
		c.equal("down", down/base)
	}},
	{"use-by-hour", form(`Use is highest on {hday:t} at {hh:t}:00 with {high:n} GPUs; and lowest on {lday:t} at {lh:t}:00 with {low:n}`), func(c *checker) {
		high, low := math.Inf(-1), math.Inf(1)
		for _, s := range c.fig.Series {
			for _, v := range s.Y {
				if v == v {
					high, low = max(high, float64(v)), min(low, float64(v))
				}
			}
		}
		cell := func(day, hour string) float64 {
			h, _ := strconv.Atoi(c.groups[hour])
			return float64(c.series(c.groups[day]).Y[h])
		}
		c.equal("high", high)
		c.equal("low", low)
		if cell("hday", "hh") != high || cell("lday", "lh") != low {
			c.Errorf("%s names another hour: %s", c.fig.ID, c.fig.Sentence)
		}
	}},
	{"queue", form(`(?:The queue is longest on {day:d} with {jobs:n} jobs|(?P<idle>No job ever waits)); in {none:n} of {n:n} steps nobody waits`), func(c *checker) {
		s := c.series("Most at once")
		k, none := extremeOf(s.Y, isAbove), 0.0
		for _, v := range s.Y {
			if v == 0 {
				none++
			}
		}
		c.equal("day", float64(s.X[k]))
		c.equal("jobs", float64(s.Y[k]))
		c.equal("none", none)
		c.equal("n", float64(len(s.Y)))
		if (c.groups["idle"] != "") != (s.Y[k] == 0) {
			c.Errorf("%s: %s", c.fig.ID, c.fig.Sentence)
		}
	}},
	{"cost-by-week", form(`The {n:n} weeks cost {total:m} in all(?:; over the {whole:n} whole weeks the cost {word:t} by {slope:m} a week)?`), func(c *checker) {
		sum, xs, ys := 0.0, []float64{}, []float64{}
		for i := range c.fig.Series[0].X {
			week, whole := 0.0, false
			for _, s := range c.fig.Series {
				if s.Name == "Trend of whole weeks" {
					whole = s.Y[i] == s.Y[i]
				} else {
					week += float64(s.Y[i])
				}
			}
			sum += week
			if whole {
				xs, ys = append(xs, float64(i)), append(ys, week)
			}
		}
		c.equal("n", float64(len(c.fig.Series[0].X)))
		c.equal("total", sum)
		if c.groups["whole"] == "" {
			return
		}
		mx, my := mean(xs), mean(ys)
		var sxy, sxx float64
		for i := range xs {
			sxy, sxx = sxy+(xs[i]-mx)*(ys[i]-my), sxx+(xs[i]-mx)*(xs[i]-mx)
		}
		c.equal("whole", float64(len(xs)))
		c.equal("slope", math.Abs(sxy/sxx))
		c.word("word", map[bool]string{true: "falls", false: "rises"}[sxy < 0])
	}},
	{"cost-wait", form(`{n:n} mixes are beaten by no other in both cost and wait; they go from {ca:m} a year with a wait of {wa:w} to {cb:m} with {wb:w}(?:; the chosen one(?P<other>, which holds the limits in more runs,)? costs {cost:m} with {wait:w})?`), func(c *checker) {
		s := c.series("Frontier")
		last := len(s.X) - 1
		c.equal("n", float64(len(s.X)))
		c.equal("ca", float64(s.Y[0]))
		c.equal("wa", float64(s.X[0]))
		c.equal("cb", float64(s.Y[last]))
		c.equal("wb", float64(s.X[last]))
		if c.groups["other"] != "" {
			s = c.series("Chosen")
		}
		if c.groups["cost"] != "" {
			c.equal("cost", float64(s.Y[s.Chosen[0]]))
			c.equal("wait", float64(s.X[s.Chosen[0]]))
		}
		for i := range s.X { // nothing on the frontier is beaten
			for k := range s.X {
				if k != i && s.X[k] <= s.X[i] && s.Y[k] < s.Y[i] {
					c.Errorf("%s: point %d beats %d", c.fig.ID, k, i)
				}
			}
		}
	}},
	{"cost-wait", form(`The run {a:t} costs least, {ca:m} a year with a wait of {wa:w}; {b:t} waits least, {wb:w} for {cb:m} a year`), func(c *checker) {
		s := c.series("Runs")
		i, k := extremeOf(s.Y, isBelow), extremeOf(s.X, isBelow)
		c.word("a", s.Labels[i])
		c.word("b", s.Labels[k])
		c.equal("ca", float64(s.Y[i]))
		c.equal("wa", float64(s.X[i]))
		c.equal("cb", float64(s.Y[k]))
		c.equal("wb", float64(s.X[k]))
	}},
	{"waterfall", form(`The {b:t} costs {tb:m} a year, {diff:m} {word:t} than the {ta:m} of the {a:t}(?:; the largest change is in "{part:t}", {dir:t} by {by:m})?(?:; the work that is not served goes from {ua:s} to {ub:s})?`), func(c *checker) {
		y, names := c.fig.Series[0].Y, c.fig.X.Names
		last := len(y) - 1
		c.equal("ta", float64(y[0]))
		c.equal("tb", float64(y[last]))
		c.equal("diff", math.Abs(float64(y[last]-y[0])))
		c.word("word", map[bool]string{true: "more", false: "less"}[y[last] > y[0]])
		most := 1
		for i := 1; i < last; i++ {
			if math.Abs(float64(y[i])) > math.Abs(float64(y[most])) {
				most = i
			}
		}
		c.word("part", names[most])
		c.equal("by", math.Abs(float64(y[most])))
		c.word("dir", map[bool]string{true: "up", false: "down"}[y[most] > 0])
	}},
	{"tornado", form(`The plan costs {base:m} a year; the largest change is that of {name:t}(?:: low it is {lo:m} {lw:t}, high it is {hi:m} {hw:t}|: it is {one:m} {ow:t})`), func(c *checker) {
		s, base := &c.fig.Series[0], c.mark("y")
		c.equal("base", base)
		width := func(i int) float64 {
			w := 0.0
			for _, v := range []num{s.Lo[i], s.Hi[i]} {
				if v == v {
					w = max(w, math.Abs(float64(v)-base))
				}
			}
			return w
		}
		for i := range c.fig.X.Names {
			if width(i) > width(0)+1e-9 {
				c.Errorf("%s: %s moves more than %s", c.fig.ID, c.fig.X.Names[i], c.fig.X.Names[0])
			}
		}
		c.word("name", c.fig.X.Names[0])
		side := func(group, word string, v num) {
			c.equal(group, math.Abs(float64(v)-base))
			c.word(word, map[bool]string{true: "more", false: "less"}[float64(v) >= base])
		}
		side("lo", "lw", s.Lo[0])
		side("hi", "hw", s.Hi[0])
	}},
	{"calendar", form(`{n:n} commitments?, {cost:m} in all over their terms(?:; the largest end is on {day:d}, of {gpus:n} GPUs)?`), func(c *checker) {
		n, sum, ends := 0.0, 0.0, map[num]float64{}
		for _, s := range c.fig.Series {
			for i := range s.Lo {
				n++
				sum += parse(c.T, regexp.MustCompile(moneyText).FindString(s.Labels[i])).value
				ends[s.Hi[i]] += float64(s.Y[i])
			}
		}
		c.equal("n", n)
		if c.equal("cost", sum); c.groups["day"] == "" {
			return
		}
		day := parse(c.T, c.groups["day"]).value
		c.equal("gpus", ends[num(day)])
		for at, gpus := range ends {
			if gpus > ends[num(day)] {
				c.Errorf("%s: %v GPUs end at %v", c.fig.ID, gpus, at)
			}
		}
	}},
	{"cliffs", form(`On {day:t} the committed GPUs go from {before:n} to {after:n}, and the month after wants {mean:n} on average`), func(c *checker) {
		i := slices.Index(c.fig.X.Names, c.groups["day"])
		s := c.fig.Series
		c.equal("before", float64(s[0].Y[i]))
		c.equal("after", float64(s[1].Y[i]))
		c.equal("mean", float64(s[2].Y[i]))
		for k := range s[2].Y {
			if s[2].Y[k]-s[1].Y[k] > s[2].Y[i]-s[1].Y[i] {
				c.Errorf("%s: %s is a worse end", c.fig.ID, c.fig.X.Names[k])
			}
		}
	}},
	{"cliffs", form(`Commitments end {n:n} times; the demand after them is not known`), func(c *checker) {
		c.equal("n", float64(len(c.fig.X.Names)))
	}},
	{"unit-costs", form(`With {plan:t} a finished job costs {job:m} and a GPU-hour in use {hour:m}(?:; that is the least for a GPU-hour of {n:n} plans)?`), func(c *checker) {
		jobs, hours := c.series("A finished job"), c.series("A GPU-hour in use")
		i := extremeOf(hours.Y, isBelow)
		c.word("plan", c.fig.X.Names[i])
		c.equal("job", float64(jobs.Y[i]))
		c.equal("hour", float64(hours.Y[i]))
		c.equal("n", float64(len(hours.Y)))
	}},
	{"waits", form(`95% of the jobs waited at most {rec:w} as recorded(?: and {sim:w} (?:as simulated|in this run))?`), func(c *checker) {
		i := slices.Index(c.fig.X.Names, "p95")
		c.equal("rec", float64(c.series("Recorded").Y[i]))
		c.equal("sim", float64(c.series("Simulated").Y[i]))
	}},
	{"futures", form(`The plan "{a:t}" costs {mean:m} on average, at most {p95:m} in 95% of the futures, and {cvar:m} on average in the worst 5%(?:; the least mean of the other plans is that of "{b:t}", {other:m})?`), func(c *checker) {
		s := c.fig.Series
		c.word("a", c.fig.X.Names[0])
		c.equal("mean", float64(s[0].Y[0]))
		c.equal("p95", float64(s[2].Y[0]))
		c.equal("cvar", float64(s[3].Y[0]))
		if len(s[0].Y) > 1 {
			k := 1 + extremeOf(s[0].Y[1:], isBelow)
			c.word("b", c.fig.X.Names[k])
			c.equal("other", float64(s[0].Y[k]))
		}
	}},
	{"played", form(`Over {n:n} futures the plan costs {lo:m} to {hi:m} and holds the limits in {held:n} of them; the cheapest mix that holds the limits in a future would have cost {mean:m} less on average, {most:m} at most, in {name:t}`), func(c *checker) {
		own, least := c.fig.Series[0], c.fig.Series[1]
		held, regret := 0.0, []num{}
		for i := range own.Y {
			if !strings.Contains(own.Labels[i], "breaks a limit") {
				held++
			}
			regret = append(regret, own.Y[i]-least.Y[i])
		}
		k := extremeOf(regret, isAbove)
		c.equal("n", float64(len(own.Y)))
		c.equal("lo", float64(own.Y[extremeOf(own.Y, isBelow)]))
		c.equal("hi", float64(own.Y[extremeOf(own.Y, isAbove)]))
		c.equal("held", held)
		c.equal("mean", total(regret)/float64(len(regret)))
		c.equal("most", float64(regret[k]))
		c.word("name", strings.TrimSuffix(own.Labels[k], ", breaks a limit"))
	}},
	{"forecast", form(`{n:n} steps ahead the forecast is {v:n}(?:, and with {level:n}% probability {lo:n} to {hi:n})?(?:; the last value of the history is {now:n})?`), func(c *checker) {
		s := c.fig.Series[len(c.fig.Series)-1]
		last := len(s.Y) - 1
		c.equal("n", float64(len(s.Y)))
		c.equal("v", float64(s.Y[last]))
		if c.groups["level"] != "" {
			c.equal("lo", float64(s.Lo[last]))
			c.equal("hi", float64(s.Hi[last]))
			if !strings.Contains(s.Name, c.groups["level"]+"% range") {
				c.Errorf("%s: the range of %q is called %s%%", c.fig.ID, s.Name, c.groups["level"])
			}
		}
		if c.groups["now"] != "" {
			past := c.series("History").Y
			c.equal("now", float64(past[len(past)-1]))
		}
	}},
	{"tenants", billForm, checkBills},
	{"tags", billForm, checkBills},
}

var billForm = form(`The largest bill is that of {name:t}: {amount:m}(?:, {share:s} of the {total:m} that are paid in all)?`)

func checkBills(c *checker) {
	var sums []num
	for i := range c.fig.X.Names {
		sums = append(sums, c.fig.Series[0].Y[i]+c.fig.Series[1].Y[i])
	}
	k := extremeOf(sums, isAbove)
	c.word("name", c.fig.X.Names[k])
	c.equal("amount", float64(sums[k]))
	c.equal("total", total(sums))
	c.equal("share", float64(sums[k])/total(sums))
}

func mean(list []float64) (out float64) {
	for _, v := range list {
		out += v / float64(len(list))
	}
	return out
}

// series returns the series of the figure with a name.
func (c *checker) series(name string) *series {
	for i := range c.fig.Series {
		if c.fig.Series[i].Name == name {
			return &c.fig.Series[i]
		}
	}
	c.Fatalf("%s has no series %q", c.fig.ID, name)
	return nil
}

// checkSizes checks the sentence of the first picture.
func checkSizes(c *checker) {
	s := &c.fig.Series[0]
	if len(s.Chosen) > 0 {
		i := s.Chosen[0]
		c.equal("gpus", float64(s.X[i]))
		c.equal("cost", float64(s.Y[i]))
		c.equal("bound", c.mark("y"))
		c.equal("gap", (float64(s.Y[i])-c.mark("y"))/c.mark("y"))
		if c.groups["lo"] != "" {
			c.equal("lo", float64(s.Lo[i]))
			c.equal("hi", float64(s.Hi[i]))
		}
	} else if c.groups["gpus"] != "" {
		c.Errorf("%s names a chosen number, its data have none", c.fig.ID)
	}
	breaks := make([]string, len(s.X))
	if len(c.fig.Series) > 1 {
		breaks = c.fig.Series[1].Labels
	}
	first, last, undone := -1, -1, -1
	for i, why := range breaks {
		if why == "" {
			if last = i; first < 0 {
				first = i
			}
		}
		if strings.Contains(why, "unserved") {
			undone = i
		}
	}
	x := func(i int) float64 {
		if i < 0 || i >= len(s.X) {
			return math.NaN()
		}
		return float64(s.X[i])
	}
	c.equal("na", x(0))
	c.equal("nb", x(len(s.X)-1))
	c.equal("xa", x(0))
	c.equal("xb", x(len(s.X)-1))
	c.equal("ha", x(first))
	c.equal("hb", x(last))
	c.equal("ho", x(first))
	c.equal("undone", x(undone))
	c.equal("few", x(first-1))
	c.equal("many", x(last+1))
	if c.groups["few"] != "" {
		c.word("fewwhy", breaks[first-1])
	}
	if c.groups["many"] != "" {
		c.word("manywhy", breaks[last+1])
	}
	if none := first < 0; none != (c.groups["xa"] != "") || (c.groups["na"] != "") != !slices.ContainsFunc(breaks, func(w string) bool { return w != "" }) {
		c.Errorf("%s: %s", c.fig.ID, c.fig.Sentence)
	}
	if first >= 0 && slices.ContainsFunc(breaks[first:last], func(w string) bool { return w != "" }) != (c.groups["gaps"] != "") {
		c.Errorf("%s: the gaps between are told wrongly: %s", c.fig.ID, c.fig.Sentence)
	}
}

// TestClaimsFindLies: a number that is changed in a sentence is found, in each form of sentence.
func TestClaimsFindLies(t *testing.T) {
	doc := readDocument(t, "mix", "run-week", "run-small", "futures", "forecast")
	digit := regexp.MustCompile(`[1-8]`)
	for i := range doc.Figures {
		f := doc.Figures[i]
		kind := regexp.MustCompile(`-\d+$`).ReplaceAllString(f.ID, "")
		for _, place := range digit.FindAllStringIndex(f.Sentence, -1) {
			text := f.Sentence[:place[0]] + string(f.Sentence[place[0]]+1) + f.Sentence[place[1]:]
			if strings.Contains(f.Sentence[max(0, place[0]-1):min(len(f.Sentence), place[1]+4)], "%") || regexp.MustCompile(`^(?:95|90|5)%`).MatchString(f.Sentence[place[0]:]) {
				continue // a part of the fixed words, or below the last place
			}
			lie := f
			lie.Sentence = text
			if !liesAre(t, doc, &lie, kind) && !strings.Contains(text, "wait_p95 <=") && !strings.Contains(text, "runs)") {
				t.Errorf("%s: nobody saw that this is false:\n%s\n%s", f.ID, f.Sentence, text)
			}
		}
	}
}

// liesAre reports whether the claims refuse a sentence.
func liesAre(t *testing.T, doc *document, f *picture, kind string) bool {
	refused := true
	for _, k := range claims {
		m := k.form.FindStringSubmatch(f.Sentence)
		if k.id != kind || m == nil {
			continue
		}
		inner := &testing.T{}
		c := &checker{T: inner, doc: doc, fig: f, groups: map[string]string{}}
		for g, name := range k.form.SubexpNames() {
			if name != "" && m[g] != "" {
				c.groups[name] = m[g]
			}
		}
		done := make(chan bool)
		go func() { // a claim may end its goroutine
			defer close(done)
			defer func() { _ = recover() }()
			k.check(c)
			refused = inner.Failed()
		}()
		<-done
	}
	return refused
}
