package scenarios

import (
	"capcli"
	"capcli/forecast/roadmap"
	"capcli/scenarios/outcome"
	"capcli/scenarios/strict"
)

// checkCampaigns refuses campaigns where Kueue decides, and campaigns that start outside the period.
func (s *Scenario) checkCampaigns(o *strict.Object) {
	if len(s.Campaigns) == 0 {
		return
	}
	if s.Kueue != nil {
		o.FaultName("campaigns", "campaigns are no Kubernetes objects; leave kueue or campaigns out")
	}
	if !s.Period.IsKnown() {
		return
	}
	for i := range s.Campaigns {
		c := &s.Campaigns[i]
		if at := c.Event.Start; at.IsKnown() && (at < s.Period.Start || at >= s.Period.End) {
			o.FaultName("campaigns", "campaign %s starts on %s, outside the period, %s", capcli.Quoted(c.Name), at.Date(), s.Period)
		}
	}
}

// WithCampaigns returns jobs with those of the campaigns in one replication, in order of submission, if jobs
// are. Those of the same second come after the others. Chance decides by the seed which campaigns happen,
// and how late they are; in.Campaigns says it.
func (s *Scenario) WithCampaigns(jobs capcli.Jobs, o Options, in *Intake) capcli.Jobs {
	if len(s.Campaigns) == 0 {
		return jobs
	}
	return func(yield func(capcli.Job, error) bool) {
		files, err := s.load(o.Open)
		if err != nil {
			yield(capcli.Job{}, err)
			return
		}
		planned, list, err := files.campaigns.Jobs(o.seed())
		if err != nil {
			yield(capcli.Job{}, err)
			return
		}
		in.noteCampaigns(s, list)
		for j, err := range jobs {
			for err == nil && len(planned) > 0 && planned[0].Submit < j.Submit {
				if !yield(planned[0], nil) {
					return
				}
				planned = planned[1:]
			}
			if !yield(j, err) || err != nil {
				return
			}
		}
		yieldAll(planned, yield)
	}
}

// yieldAll yields jobs until yield returns false.
func yieldAll(jobs []capcli.Job, yield func(capcli.Job, error) bool) {
	for i := range jobs {
		if !yield(jobs[i], nil) {
			return
		}
	}
}

// noteCampaigns notes what became of the campaigns.
func (in *Intake) noteCampaigns(s *Scenario, list []roadmap.Outcome) {
	in.Campaigns = nil
	for _, c := range list {
		in.Campaigns = append(in.Campaigns, outcome.Campaign{
			Name: c.Name, Happens: c.Happens, Start: c.Start, Delay: c.Delay, Length: c.Length, GPUs: c.GPUs, Jobs: c.Jobs, Work: c.Work,
			Outside: c.Happens && s.Period.IsKnown() && c.Start >= s.Period.End,
		})
	}
}
