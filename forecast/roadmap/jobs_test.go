package roadmap

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/forecast/model"
)

func usd(dollars float64) capcli.USD { return capcli.USDOf(dollars) }

const campaignStart = capcli.Time(1_800_000_000)

// settled returns the entries of a campaign, with what follows it.
func settled(t interface{ Fatal(args ...any) }, c Campaign, e Event, s *Success) []Entry {
	p := Entry{Name: c.Name, Kind: "campaign", Campaign: &c, Event: e, Success: s}
	if err := p.Settle(); err != nil {
		t.Fatal(err)
	}
	out := []Entry{p}
	next, follows, err := p.FollowUp()
	if err != nil {
		t.Fatal(err)
	}
	if follows {
		out = append(out, next)
	}
	return out
}

// The demand that a forecast adds for a campaign and the jobs that a simulation plays are the same
// GPU-seconds, exactly, whatever its size, pieces and runs; and the jobs hold its GPUs without a gap.
func TestJobsAreTheDemand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes, width := rapid.IntRange(1, 8).Draw(t, "lanes"), rapid.IntRange(1, 64).Draw(t, "width")
		c := Campaign{
			Name: "run", Parameters: rapid.Float64Range(1e8, 1e10).Draw(t, "parameters"), Tokens: rapid.Float64Range(1e9, 1e11).Draw(t, "tokens"),
			PeakFLOPS: 989e12, MFU: rapid.Float64Range(0.1, 0.6).Draw(t, "mfu"), GPUs: lanes * width, Runs: rapid.IntRange(1, 5).Draw(t, "runs"),
			Evaluation: rapid.Float64Range(0, 0.2).Draw(t, "evaluation"),
			Work:       Work{JobGPUs: width, Piece: capcli.Seconds(rapid.IntRange(0, 9).Draw(t, "piece") * 50_001)},
		}
		list := settled(t, c, Event{Start: campaignStart}, nil)
		e := list[0].Event
		plan := Plan{List: list}
		jobs, what, err := plan.Jobs(7)
		if err != nil {
			t.Fatal(err)
		}
		held, free := map[capcli.Time]int{}, []capcli.Time{}
		var work capcli.GPUTime
		for _, j := range jobs {
			work += j.Work()
			if w := list[0].Campaign.Work.Piece; w > 0 && j.Run > w {
				t.Fatalf("a job runs %d s, over %d", j.Run, w)
			}
			held[j.Submit] += j.GPUs
			free = append(free, j.Submit+capcli.Time(j.Run))
			held[j.Submit+capcli.Time(j.Run)] -= j.GPUs
		}
		seconds := int64(e.End - e.Start)
		if int64(work) != seconds*int64(c.GPUs)*1000 || what[0].Work != work || what[0].Jobs != len(jobs) {
			t.Fatalf("jobs of %d GPU-seconds, want %d", work/1000, seconds*int64(c.GPUs))
		}
		if held[e.Start] != c.GPUs || held[e.End] != -c.GPUs || slices.Max(free) != e.End {
			t.Fatalf("at the start %d GPUs are held, at the end %d given back", held[e.Start], held[e.End])
		}
		for at, change := range held {
			if at != e.Start && at != e.End && change != 0 {
				t.Fatalf("at %s the GPUs change by %d", at, change)
			}
		}
		// The forecast: steps of an hour, the mean of each.
		bounds := []capcli.Time{e.Start - 3600}
		for bounds[len(bounds)-1] < e.End+capcli.Time(6*e.LengthSD) && len(bounds) < 3000 {
			bounds = append(bounds, bounds[len(bounds)-1]+3600)
		}
		if bounds[len(bounds)-1] < e.End+capcli.Time(6*e.LengthSD) {
			return // too long to add up here
		}
		f, _, err := (&Roadmap{Seed: 1, Events: []Event{e}}).Apply(model.Forecast{Mean: make([]float64, len(bounds)-1)}, bounds)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range f.Mean {
			sum += v * 3600
		}
		if math.Round(sum) != float64(seconds*int64(c.GPUs)) {
			t.Fatalf("the forecast adds %f GPU-seconds, the jobs %d", sum, seconds*int64(c.GPUs))
		}
	})
}

// Over many seeds campaigns happen, are late and are followed as often as they are said to, and a drawn
// future of the forecast and the jobs of the same seed agree.
func TestVariantsOfACampaign(t *testing.T) {
	c := Campaign{Name: "next", Parameters: 1e9, Tokens: 2e11, PeakFLOPS: 989e12, MFU: 0.4, GPUs: 16}
	list := settled(t, c, Event{Start: campaignStart, Chance: 0.8, Delays: []Late{{By: 30 * 86400, Chance: 0.3}, {By: 60 * 86400, Chance: 0.1}}},
		&Success{Chance: 0.25, After: 86400, GPUs: 8, For: 10 * 86400})
	plan := Plan{List: list}
	events := []Event{list[0].Event, list[1].Event}
	events[0].LengthSD = 0
	if p := events[1]; p.Chance != 0.2 || p.Parent != "next" || p.Start != events[0].End+86400 || p.End != p.Start+864000 || p.Check() != nil {
		t.Fatalf("follows %+v: %v", p, p.Check())
	}
	const draws, days = 4000, 120
	bounds := make([]capcli.Time, days+1)
	for i := range bounds {
		bounds[i] = campaignStart + capcli.Time(i*86400)
	}
	count := map[string]int{}
	for seed := range capcli.Seed(draws) {
		jobs, what, err := plan.Jobs(seed)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, _ := plan.Jobs(seed); !reflect.DeepEqual(jobs, again) {
			t.Fatal("the same seed gives other jobs")
		}
		if what[0].Happens {
			count["happens"]++
			count[fmt.Sprintf("late %d", what[0].Delay/86400)]++
		}
		if what[1].Happens {
			count["follows"]++
			if !what[0].Happens || what[1].Start != what[0].Start+capcli.Time(what[0].Length)+86400 {
				t.Fatalf("seed %d: %+v follows %+v", seed, what[1], what[0])
			}
		}
		path := make([]float64, days)
		(&Roadmap{Events: events}).ApplyPath(path, bounds, seed)
		var work, demand float64
		for _, j := range jobs {
			work += float64(j.Work()) / 1000
		}
		for _, v := range path {
			demand += v * 86400
		}
		if math.Abs(work-demand) > 1e-3*(1+work) {
			t.Fatalf("seed %d: jobs of %.0f GPU-seconds, a future of %.0f", seed, work, demand)
		}
	}
	for what, want := range map[string]float64{"happens": 0.8, "late 0": 0.8 * 0.6, "late 30": 0.8 * 0.3, "late 60": 0.8 * 0.1, "follows": 0.2} {
		if got := float64(count[what]) / draws; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/draws) {
			t.Errorf("%s in %.3f of the draws, want %.3f", what, got, want)
		}
	}
	// The forecast's mean is that of the draws: 0.8 of the run, 0.2 of the product.
	f, _, err := (&Roadmap{Seed: 3, Events: events}).Apply(model.Forecast{Mean: make([]float64, days)}, bounds)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range f.Mean {
		sum += v * 86400
	}
	want := 0.8*float64(events[0].End-events[0].Start)*16 + 0.2*864000*8
	if math.Abs(sum-want) > 0.01*want {
		t.Errorf("the forecast adds %.0f GPU-seconds, want %.0f", sum, want)
	}
}

// A length that is drawn has the campaign's range: four of five draws lie within it.
func TestDrawnLength(t *testing.T) {
	c := Campaign{Name: "next", Parameters: 1e9, Tokens: 2e12, PeakFLOPS: 989e12, MFU: 0.4, MFULo: 0.3, MFUHi: 0.5, GPUs: 16, Work: Work{DrawLength: true}}
	list := settled(t, c, Event{Start: campaignStart}, nil)
	within, draws := 0, 2000
	for seed := range capcli.Seed(draws) {
		_, what, err := (&Plan{List: list}).Jobs(seed)
		if err != nil {
			t.Fatal(err)
		}
		half := (list[0].Cost.Hi - list[0].Cost.Lo) / 2 / 16
		if math.Abs(what[0].Length.Hours()-list[0].Cost.Hours) <= half {
			within++
		}
	}
	if share := float64(within) / float64(draws); share < 0.77 || share > 0.83 {
		t.Errorf("%.3f of the lengths lie in the range, want 0.8", share)
	}
}
