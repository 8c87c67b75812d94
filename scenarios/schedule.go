package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"capcli/scenarios/generate"
)

// ChoosesByPrice reports whether the schedule depends on prices, because jobs with a shape take their ways by a rule
// that may weigh them.
func (s *Scenario) ChoosesByPrice() bool {
	return len(s.Shapes) > 0 && s.Widths.Rule != "" && s.Widths.Rule != "asked"
}

// ScheduleKey returns a hash of everything that a schedule depends on except its jobs: capacity and
// rules, but not prices (unless ChoosesByPrice), terms, limits, descriptions or pools that float. Scenarios with the same key have the same
// schedule for the same jobs and seed.
func (s *Scenario) ScheduleKey() (string, error) {
	c := *s
	c.File, c.Name, c.Description, c.PriceFile, c.Limits, c.Seed, c.Jobs = "", "", "", "", nil, 0, Jobs{CPUJobs: s.Jobs.CPUJobs, KillAtLimit: s.Jobs.KillAtLimit}
	c.Commitments = nil
	if s.Settles() {
		c.Description = "by the hour" // the record of the run then has hours
	}
	c.Services = nil // they hold more than JSON can: their own text says what they are
	for i := range s.Services {
		text, err := s.Services[i].Text()
		if err != nil {
			return "", err
		}
		c.Description += "\n" + text
	}
	if w := s.Jobs.Generate; w != nil { // its services hold capacity, and are no jobs
		held := *w
		held.Classes = slices.DeleteFunc(slices.Clone(w.Classes), func(x generate.Class) bool { return x.Kind != generate.Service })
		if len(held.Classes) > 0 {
			c.Jobs.Generate = &held
		}
	}
	c.Policy.Name, c.Placement = s.PolicyName(), s.PlacementName()
	for i := range s.Capacity {
		for _, p := range s.guarantees(&s.Capacity[i]) { // its GPUs are in the limit of an on_demand pool
			c.Description += fmt.Sprintf("\n%s guarantees %d GPUs from %v until %v", p.Name, p.size(), p.From, p.Until)
		}
	}
	c.Capacity = slices.DeleteFunc(slices.Clone(s.Capacity), func(p Capacity) bool { return p.Floats })
	for i := range c.Capacity {
		p := &c.Capacity[i]
		p.Fenced = nil
		// The times of price changes stay, because they divide the record of a run.
		p.Upfront, p.Term, p.OnDemand = 0, "", Price{History: p.OnDemand.History}
		if !s.ChoosesByPrice() && !s.pricesDecide() {
			p.Price, p.Free = Price{History: p.Price.History}, false
		}
	}
	b, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}
