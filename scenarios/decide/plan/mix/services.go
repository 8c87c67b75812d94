package mix

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// MissingMost is the default limit on the GPU time of replicas that find no room, over what the services
// need. Without a limit the cheapest mix would starve them.
const MissingMost = 0.005

// servedMetrics are metrics that a mix without room for replicas breaks; a limit on one of them says how
// well services must be served.
var servedMetrics = []string{"ttft_", "tpot_", "e2e_", "slo_share", "goodput", "late_requests", "unserved_requests", "missing_gpu_hours"}

// limitMissing limits the GPU time of replicas that find no room, where a scenario has services and no
// limit on how they are served.
func (p *Planner) limitMissing() error {
	if len(p.req.Case.Scenario.Services) == 0 || slices.ContainsFunc(p.limits, func(c outcome.Check) bool {
		name := c.Metric.Name
		if _, own, of := strings.Cut(name, "."); of {
			name = own
		}
		return slices.ContainsFunc(servedMetrics, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}) {
		return nil
	}
	cfg, err := p.req.Case.Scenario.Config(nil, p.options(0))
	if err != nil {
		return err
	}
	hours := MissingMost * serviceNeed(cfg.Services).Hours()
	c, err := outcome.ParseCheck(fmt.Sprintf("missing_gpu_hours<=%.4f", math.Max(hours, 1e-4)))
	if err != nil {
		return err
	}
	p.limits = append(p.limits, c)
	p.notes = append(p.notes, fmt.Sprintf("replicas of services must have room: those that are wanted and find none may lack %.3g GPU-hours, 0.5%% of what the services need; a limit such as --max ttft_p99=200ms takes its place", hours))
	return nil
}

// serviceNeed returns the GPU time of as many replicas as serve each step of the services at once.
func serviceNeed(services []simulate.Service) capcli.GPUTime {
	sum := capcli.GPUTime(0)
	for i := range services {
		s := &services[i]
		length := s.Length
		if length <= 0 {
			length = capcli.Minute
		}
		for _, load := range s.Load {
			if s.PerReplica > 0 {
				sum += capcli.GPUTime((load+s.PerReplica-1)/s.PerReplica) * capcli.GPUTime(s.Milli()) * capcli.GPUTime(length)
			}
		}
	}
	return sum
}

// servicePeak returns the GPUs of the replicas that serve the busiest step of each service of the first
// run at once.
func (p *Planner) servicePeak() (int64, error) {
	s := p.req.Case.Scenario
	if len(s.Services) == 0 {
		return 0, nil
	}
	cfg, err := s.Config(nil, p.options(0))
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for i := range cfg.Services {
		x := &cfg.Services[i]
		need := int64(x.Initial)
		if x.PerReplica > 0 && len(x.Load) > 0 {
			need = max(need, (slices.Max(x.Load)+x.PerReplica-1)/x.PerReplica)
		}
		if x.Most > 0 {
			need = min(need, int64(x.Most))
		}
		sum += need * int64(max(1, x.GPUs))
	}
	return sum, nil
}

// serviceNotes says where the replicas of the best mix are: what is reserved, what scales and what rides
// on spot; and which figures leave services out.
func (s *study) serviceNotes() []string {
	if s.best == nil || len(s.best.Outcomes) == 0 || len(s.best.Outcomes[0].Services) == 0 {
		return nil
	}
	cfg, err := s.best.Config(0)
	if err != nil {
		return nil
	}
	words := map[simulate.Terms]string{simulate.OnDemand: "scales on", simulate.Spot: "rides on spot capacity of"}
	var notes []string
	for i := range s.best.Outcomes[0].Services {
		v := &s.best.Outcomes[0].Services[i]
		var parts []string
		for _, h := range v.Pools {
			word := "is on"
			for k := range cfg.Pools {
				if p := &cfg.Pools[k]; p.Name == h.Pool && words[p.Terms] != "" {
					word = words[p.Terms]
				}
			}
			parts = append(parts, fmt.Sprintf("%.0f%% %s %s", 100*h.Held.Hours()/math.Max(v.Held.Hours(), 1e-9), word, h.Pool))
		}
		text := fmt.Sprintf("%s: of %.4g GPU-hours of its replicas %s", v.Name, v.Held.Hours(), strings.Join(parts, ", "))
		if n := v.NotAnswered(); n > 0 {
			text += fmt.Sprintf("; %s of %s requests are not answered", capcli.Grouped(n), capcli.Grouped(v.Requests))
		}
		notes = append(notes, text)
	}
	return append(notes, "the lower bound and the changes of demand are those of the jobs; what replicas hold comes on top of the bound (capcli plan service sizes services)")
}
