package kinds

import (
	"strings"

	"capcli"
	"capcli/profile"
	"capcli/profile/judge"
)

// Survey collects from all jobs of a log what one job does not show: how jobs of the same tenant, partition and class
// waited and ended, and whether the log comes from recordings. Then Assign tells the kind of each job.
type Survey struct {
	rules  *Rules
	groups map[groupKey]*group
	meanUp capcli.Seconds // of SpotTerms; 0 is not computed
	jobs   int64
	told   int64                // jobs whose class is a verdict, or a tag of which has one
	tagged int64                // those of them that have the tag
	names  map[nameKey]evidence // what names and tags tell, once all jobs were added
}

// groupKey tells groups of jobs apart.
type groupKey struct{ tenant, partition, class string }

// group is the jobs of one tenant, partition and class.
type group struct {
	jobs, taken   int64 // all, and those that lost their GPUs
	held          int64 // seconds of machines
	started, late int64 // with a recorded start, and those of them that waited Rules.Waited
}

// leastWaited is the least number of recorded starts that tells whether users let jobs wait.
const leastWaited = 20

func (g *group) preempted() bool { return g.taken > 0 && 100*g.taken >= g.jobs }

// leastTaken is the least number of losses in a log that tells how often a machine is taken away.
const leastTaken = 20

// SpotTerms returns what is assumed of spot GPUs, once all jobs were added. Where the rules do not state how often a machine is
// taken away, it is the time of machines of the groups that lose GPUs over their losses: the estimate of the mean of an
// exponential time from censored observations (Cox and Oakes, Analysis of Survival Data, 1984, section 3.2).
func (s *Survey) SpotTerms() SpotTerms {
	out := s.rules.Spot
	if out.Source = StatedLosses; out.MeanUp > 0 {
		return out
	}
	var held int64
	for _, g := range s.groups { // sums of whole numbers: the order does not matter
		if g.preempted() {
			held, out.Losses = held+g.held, out.Losses+g.taken
		}
	}
	if out.Losses < leastTaken || held < out.Losses {
		out.MeanUp, out.Source, out.Losses = usualUp, AssumedLosses, 0
		return out
	}
	out.MeanUp, out.Source = capcli.Seconds(held/out.Losses), SeenLosses
	return out
}

func (g *group) hasWaited() bool { return g.started >= leastWaited && 2*g.late >= g.started }

// nameKey is the names of a job.
type nameKey struct {
	class, partition string
	tags             *capcli.Tags
}

// NewSurvey returns a survey without jobs.
func NewSurvey(r *Rules) *Survey {
	return &Survey{rules: r, groups: map[groupKey]*group{}, names: map[nameKey]evidence{}}
}

// Add adds a job of the log.
func (s *Survey) Add(j *capcli.Job) {
	key := groupKey{j.Tenant, j.Partition, j.Class}
	g := s.groups[key]
	if g == nil {
		g = &group{}
		s.groups[key] = g
	}
	s.jobs++
	if verdicts[j.Tags.Value(profile.VerdictTag)] != "" {
		s.told++
		s.tagged++
	} else if verdicts[j.Class] != "" {
		s.told++
	}
	g.jobs++
	g.held += int64(s.rules.machines(j)) * int64(j.Run)
	if state := strings.ToUpper(j.State); strings.HasPrefix(state, "PREEMPTED") || strings.HasPrefix(state, "REQUEUED") {
		g.taken++
	}
	if j.Start.IsKnown() {
		g.started++
		if capcli.Seconds(j.Start-j.QueueTime()) >= s.rules.Waited {
			g.late++
		}
	}
}

// Recorded reports whether jobs come from recordings or were joined with one: the class of each is a verdict on its
// use, as profile jobs writes it, or some have a tag with it.
func (s *Survey) Recorded() bool { return s.tagged > 0 || s.jobs > 0 && s.told == s.jobs }

// verdict returns what a recording says of a job; "" where none does. A class is a verdict where all jobs have one.
func (s *Survey) verdict(j *capcli.Job) judge.Kind {
	if v := verdicts[j.Tags.Value(profile.VerdictTag)]; v != "" || s.told != s.jobs {
		return v
	}
	return verdicts[j.Class]
}

// Assign returns the kind of a job of the log: that of the first rule that fits.
func (s *Survey) Assign(j *capcli.Job) Assigned {
	e := s.read(j)
	if s.meanUp == 0 {
		s.meanUp = s.SpotTerms().MeanUp
	}
	e.meanUp = s.meanUp
	e.job, e.rules, e.group = j, s.rules, s.groups[groupKey{j.Tenant, j.Partition, j.Class}]
	if e.group == nil {
		e.group = &group{}
	}
	table := s.rules.Table()
	for i := range table {
		if !table[i].fits(&e) {
			continue
		}
		out := Assigned{Kind: table[i].Kind, Rule: i, Saves: e.saves}
		if i < len(s.rules.Lines) && s.rules.Lines[i].Saves != nil {
			out.Saves = *s.rules.Lines[i].Saves
		}
		return out
	}
	return Assigned{Kind: Unknown, Rule: len(table) - 1}
}

// read returns what names and tags of a job tell.
func (s *Survey) read(j *capcli.Job) evidence {
	key := nameKey{j.Class, j.Partition, j.Tags}
	if known, ok := s.names[key]; ok {
		return known
	}
	var e evidence
	text := j.Partition
	if e.found = s.verdict(j); string(e.found) != j.Class {
		text = j.Class + " " + text
	}
	for _, t := range nameTags {
		if v := j.Tags.Value(t); v != "" {
			text += " " + v
		}
	}
	e.work, e.batch = readWords(text)
	for _, t := range checkpointTags {
		e.saves = e.saves || says(j.Tags.Value(t))
	}
	if len(s.names) < capcli.MaxTagSets {
		s.names[key] = e
	}
	return e
}

// Rewrite gives j the class and the partition of its kind. It reports whether the job is needed.
func (s *Survey) Rewrite(j *capcli.Job) bool {
	a := s.Assign(j)
	if a.Kind == Unneeded {
		return false
	}
	j.Class, j.Partition = a.Class(), a.Lane()
	return true
}
