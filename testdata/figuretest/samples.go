// Package figuretest has figures for tests: one of each kind, and names that attack what shows them.
package figuretest

import (
	"math"
	"math/rand/v2"
	"strconv"

	"capcli/scenarios/figure"
)

var unknown = figure.Number(math.NaN())

func values(n int, f func(i int) float64) []figure.Number {
	out := make([]figure.Number, n)
	for i := range out {
		out[i] = figure.Number(f(i))
	}
	return out
}

// Samples returns a figure of each kind, such as a paper holds. The values are made up.
func Samples() []figure.Figure {
	r := rand.New(rand.NewPCG(1, 2))
	return []figure.Figure{costByReserved(), useByTier(r), mixes(r), tenants(), waterfall(), tornado(), hours(r), calendar()}
}

func costByReserved() figure.Figure {
	reserved := values(33, func(i int) float64 { return float64(i) * 4 })
	cost := func(i int) float64 { return 1.6e6 + 260*math.Pow(float64(reserved[i])-62, 2) }
	return figure.Figure{
		ID: "cost-by-reserved", Title: "Cost a year and its risk by number reserved", Kind: figure.Lines,
		Sentence: "64 reserved GPUs cost $1,601,040 a year, the least of 33 sizes; 90% of the futures lie between $1.5M and $1.75M.",
		X:        figure.Axis{Label: "GPUs reserved", Unit: figure.Count}, Y: figure.Axis{Label: "cost a year", Unit: figure.USD},
		Series: []figure.Series{
			{Name: "mean cost", X: reserved, Y: values(33, cost), Lo: values(33, func(i int) float64 { return cost(i) * 0.93 }), Hi: values(33, func(i int) float64 { return cost(i) * 1.09 }), Chosen: []int{16}},
			{Name: "worst 5% of futures", X: reserved, Y: values(33, func(i int) float64 { return cost(i) * 1.15 }), Dashed: true},
		},
		Marks: []figure.Mark{{Label: "lower bound $1.42M", Axis: "y", At: 1.42e6}, {Label: "waits break 30 min below 44", Axis: "x", At: 44}},
	}
}

func useByTier(r *rand.Rand) figure.Figure {
	const day = 86400
	start := 1798761600.0 // 2027-01-01
	days := values(365, func(i int) float64 { return start + float64(i)*day })
	demand := values(365, func(i int) float64 {
		return 90 + 40*math.Sin(float64(i)/40) + 15*math.Sin(float64(i)*2*math.Pi/7) + 10*r.Float64()
	})
	part := func(lo, hi float64) []figure.Number {
		return values(365, func(i int) float64 { return math.Min(math.Max(float64(demand[i])-lo, 0), hi-lo) })
	}
	gap := values(365, func(i int) float64 { return float64(demand[i]) * 1.05 })
	for i := 225; i < 239; i++ {
		gap[i] = unknown
	}
	return figure.Figure{
		ID: "use", Title: "Use by tier against demand and commitments", Kind: figure.Stack, Sentence: "Demand was above the commitment on 212 of 365 days.",
		X: figure.Axis{Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
		Series: []figure.Series{
			{Name: "reserved", X: days, Y: part(0, 64)},
			{Name: "flex", X: days, Y: part(64, 96)},
			{Name: "on-demand", X: days, Y: part(96, 128)},
			{Name: "spot", X: days, Y: part(128, 1000)},
			{Name: "demand", X: days, Y: gap, Over: true},
		},
		Marks: []figure.Mark{{Label: "committed 64", Axis: "y", At: 64}},
	}
}

func mixes(r *rand.Rand) figure.Figure {
	return figure.Figure{
		ID: "mixes", Title: "Cost against p95 wait", Kind: figure.Points, Sentence: "Mix 2 costs $29,000 more than mix 1 and waits 3 min less.",
		X: figure.Axis{Label: "p95 wait", Unit: figure.Seconds}, Y: figure.Axis{Label: "cost a year", Unit: figure.USD},
		Series: []figure.Series{
			{Name: "frontier", Over: true, X: []figure.Number{1140, 1320, 1380, 1560, 2400}, Y: []figure.Number{1695168, 1668000, 1641000, 1612000, 1590000}, Labels: []string{"64 reserved", "64+16 spot", "60+20 spot", "56+24 spot", "48 reserved"}, Chosen: []int{2}},
			{
				Name: "others", X: values(40, func(i int) float64 { return 1200 + float64(i)*50 + 200*r.Float64() }), Y: values(40, func(i int) float64 { return 1650000 + 150000*r.Float64() }),
				Lo: values(40, func(int) float64 { return 1640000 }), Hi: values(40, func(int) float64 { return 1830000 }),
			},
		},
		Marks: []figure.Mark{{Label: "limit 30 min", Axis: "x", At: 1800}},
	}
}

func tenants() figure.Figure {
	return figure.Figure{
		ID: "tenants", Title: "Bills by team", Kind: figure.Bars, Sentence: "research pays $812,340, 48% of the bill.",
		X: figure.Axis{Label: "team", Unit: figure.Name, Names: []string{"research", "product", "infrastructure", "a team with quite a long name", "unknown"}}, Y: figure.Axis{Label: "cost", Unit: figure.USD},
		Series: []figure.Series{
			{Name: "direct", Y: []figure.Number{612340, 401230, 281597, 90000, unknown}},
			{Name: "share of idle", Y: []figure.Number{200000, 100000, 100000, 30000, unknown}, Pile: true},
			{Name: "last year", Y: []figure.Number{700000, 450000, 300000, 80000, 20000}},
		},
	}
}

func waterfall() figure.Figure {
	return figure.Figure{
		ID: "plans", Title: "From plan to plan", Kind: figure.Waterfall, Sentence: "flex-spot costs $115,629 less than reserve64.",
		X: figure.Axis{Unit: figure.Name, Names: []string{"reserve64", "reserved hours", "flex", "on-demand", "spot", "flex-spot"}}, Y: figure.Axis{Label: "cost a year", Unit: figure.USD},
		Series: []figure.Series{{Y: []figure.Number{1695168, -1233408, 1170950, -461760, 408589, 1579539}}},
	}
}

func tornado() figure.Figure {
	return figure.Figure{
		ID: "tornado", Title: "What moves the cost", Kind: figure.Tornado, Sentence: "Growth moves the cost most: $420,000 between its ends.",
		X: figure.Axis{Unit: figure.Name, Names: []string{"growth, 0.8 to 1.4", "spot price, $1.20 to $2.40", "on-demand price", "checkpoint every 15 to 120 min"}}, Y: figure.Axis{Label: "cost a year", Unit: figure.USD},
		Series: []figure.Series{{Lo: []figure.Number{1480000, 1540000, 1590000, 1600500}, Hi: []figure.Number{1900000, 1690000, 1640000, 1603000}}},
		Marks:  []figure.Mark{{Label: "the plan", Axis: "y", At: 1601040}},
	}
}

func hours(r *rand.Rand) figure.Figure {
	var names []string
	for h := range 24 {
		names = append(names, strconv.Itoa(h))
	}
	heat := figure.Figure{
		ID: "hours", Title: "Mean GPUs in use by hour and weekday", Sentence: "Tuesday at 14:00 has the most, 131 GPUs.", Kind: figure.Heat,
		X: figure.Axis{Label: "hour (UTC)", Unit: figure.Name, Names: names}, Y: figure.Axis{Label: "GPUs in use", Unit: figure.Count},
	}
	for d, name := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		heat.Series = append(heat.Series, figure.Series{Name: name, Y: values(24, func(h int) float64 {
			if d == 6 && h < 3 {
				return math.NaN()
			}
			return math.Round(60 + 50*math.Sin((float64(h)-8)/24*2*math.Pi) - 8*float64(max(d-4, 0)) + 10*r.Float64())
		})})
	}
	return heat
}

func calendar() figure.Figure {
	return figure.Figure{
		ID: "calendar", Title: "Purchase calendar", Kind: figure.Spans, Sentence: "48 GPUs expire on 2027-10-01.",
		X: figure.Axis{Unit: figure.Time}, Y: figure.Axis{Label: "commitment", Unit: figure.Count},
		Series: []figure.Series{
			{Name: "1 year", Lo: []figure.Number{1790812800, 1798761600}, Hi: []figure.Number{1822348800, 1830297600}, Y: []figure.Number{48, 16}, Labels: []string{"48 GPUs", "16 GPUs"}},
			{Name: "3 months", Lo: []figure.Number{1798761600, 1806537600, 1814400000}, Hi: []figure.Number{1806537600, 1814400000, 1822348800}, Y: []figure.Number{8, 16, 24}},
			{Name: "on-demand", Lo: []figure.Number{1798761600}, Hi: []figure.Number{unknown}, Labels: []string{"up to 32 GPUs"}},
		},
		Marks: []figure.Mark{{Label: "48 GPUs expire", Axis: "x", At: 1822348800}},
	}
}
