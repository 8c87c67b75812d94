package outcome

import (
	"fmt"
	"slices"

	"capcli"
	"capcli/simulate"
)

// Near is over what jobs were spread, and the room in the domains of the pools.
type Near struct {
	Spread  []NearSpread `json:"spread"`
	Domains []DomainRoom `json:"domains"`
}

// NearSpread is the starts of jobs of a shape that one domain of a level held and no narrower one.
type NearSpread struct {
	Shape  string         `json:"shape"` // "" is jobs of shapes without near
	Level  string         `json:"level"` // node, a level of domains, or cluster
	Starts int64          `json:"starts"`
	Gangs  int64          `json:"gangs"` // of Starts, of jobs larger than a node
	Held   capcli.GPUTime `json:"gpu_hours"`
	Lost   capcli.GPUTime `json:"slowdown_gpu_hours"` // of Held, what the slowdown took
}

// DomainRoom is the room in the domains of a level of a pool, over the run.
type DomainRoom struct {
	Pool       string  `json:"pool"`
	Level      string  `json:"level"`
	Domains    int     `json:"domains"`
	DomainGPUs int     `json:"domain_gpus"`        // of the largest
	Free       float64 `json:"free_gpus_mean"`     // of the pool
	Largest    float64 `json:"largest_gang_mean"`  // GPUs of the largest gang that one domain had room for, on free nodes
	Median     int     `json:"largest_gang_p50"`   // the same for half of the time
	Always     int     `json:"largest_gang_p5"`    // the same for 95 % of the time
	Half       float64 `json:"half_domain_share"`  // share of the time in which half of the largest domain was free in one
	Stranded   float64 `json:"stranded_gpus_mean"` // on free nodes of domains too small for a gang of the run's mix
	Gangs      int64   `json:"gangs"`              // jobs of that mix
}

// NearOf returns the spread of the jobs of the shapes, which have near, and the room in domains; nil if the run
// has neither.
func NearOf(res *simulate.Result, shapes []string) *Near {
	if len(shapes) == 0 && len(res.Rooms) == 0 {
		return nil
	}
	out := &Near{Spread: []NearSpread{}, Domains: []DomainRoom{}}
	if len(res.Rooms) > 0 {
		shapes = append([]string{""}, shapes...)
	}
	for _, name := range shapes {
		var rows []simulate.Spread
		if i := slices.IndexFunc(res.Near, func(n simulate.Nearness) bool { return n.Shape == name }); i >= 0 {
			rows = res.Near[i].Rows
		}
		for _, level := range res.Levels {
			s := NearSpread{Shape: name, Level: level}
			if i := slices.IndexFunc(rows, func(r simulate.Spread) bool { return r.Level == level }); i >= 0 {
				r := &rows[i]
				s.Starts, s.Gangs, s.Held, s.Lost = r.Stays, r.Gangs, r.Held, r.Lost
			}
			out.Spread = append(out.Spread, s)
		}
	}
	for i := range res.Rooms {
		r := &res.Rooms[i]
		out.Domains = append(out.Domains, DomainRoom{
			Pool: res.Record.Pools[r.Pool].Name, Level: r.Level, Domains: r.Domains, DomainGPUs: r.DomainGPUs, Free: r.Free, Largest: r.Largest,
			Median: r.GangSize(0.5), Always: r.GangSize(0.95), Half: r.RoomShare((r.DomainGPUs + 1) / 2), Stranded: r.Stranded, Gangs: r.Gangs,
		})
	}
	return out
}

// Notes tells what a reader of one run must know.
func (n *Near) Notes() (out []string) {
	if n == nil {
		return nil
	}
	var lost, held capcli.GPUTime
	for i := range n.Spread {
		if s := &n.Spread[i]; s.Shape != "" {
			lost += s.Lost
			held += s.Held
		}
	}
	if lost > 0 {
		out = append(out, fmt.Sprintf("near: the slowdown took %.1f GPU-hours, %.1f%% of what such jobs held", lost.Hours(), 100*float64(lost)/float64(held)))
	}
	for i := range n.Domains {
		if d := &n.Domains[i]; d.Stranded >= 0.5 {
			out = append(out, fmt.Sprintf("* %s: %.0f GPUs on average were free in %ss too small for a gang that came (%d such jobs); the largest gang that one %s had room for was %.0f of %d GPUs on average",
				d.Pool, d.Stranded, d.Level, d.Gangs, d.Level, d.Largest, d.DomainGPUs))
		}
	}
	return out
}

// nearFigure returns a figure of near; nil if a run has none.
func nearFigure(of func(*Near) float64) func(*Outcome) *float64 {
	return func(o *Outcome) *float64 {
		if o.Near == nil {
			return nil
		}
		v := of(o.Near)
		return &v
	}
}

// slowdownHours is the GPU-hours that being spread cost.
func (n *Near) slowdownHours() float64 {
	var sum capcli.GPUTime
	for i := range n.Spread {
		sum += n.Spread[i].Lost
	}
	return sum.Hours()
}

// strandedGPUs is the mean of the GPUs that are free in domains too small for a gang, at the level where most
// are.
func (n *Near) strandedGPUs() float64 {
	most := map[string]float64{}
	sum := 0.0
	for i := range n.Domains {
		d := &n.Domains[i]
		if more := d.Stranded - most[d.Pool]; more > 0 {
			most[d.Pool] += more
			sum += more
		}
	}
	return sum
}
