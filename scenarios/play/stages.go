package play

import (
	"fmt"

	"capcli"
	"capcli/simulate"
)

// keepStages keeps the jobs of a run in memory, which depend on each other, and notes what was assumed
// about the dependencies.
func (c *Case) keepStages(cfg *simulate.Config, run int, note func(string)) error {
	list := []capcli.Job{}
	for j, err := range cfg.Jobs {
		if err != nil {
			return c.Fault(err)
		}
		list = append(list, j)
	}
	s, err := simulate.NewStages(list)
	if err != nil {
		return c.Fault(err)
	}
	cfg.Jobs, cfg.Stages = nil, s
	if g := s.Graph; g.Missing > 0 && run == 0 && !c.Quiet {
		note(fmt.Sprintf("%s: jobs wait %s times for jobs that are not among those played, which counts as satisfied; the first: %s for %s",
			c.Source.Name, capcli.Grouped(g.Missing), g.By, g.FirstMissing))
	}
	return nil
}
