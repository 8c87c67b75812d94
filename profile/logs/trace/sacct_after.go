package trace

import (
	"slices"

	"capcli"
)

// mostSingles is the most earlier jobs of one user and name that a singleton waits for: the latest.
const mostSingles = 200

// dependencies sets what job, which is in the current row, waits for: by the column Dependency, as scontrol
// and squeue write it, or by the command line in SubmitLine. An expression that cannot be read is passed
// over, and counted as an assumption.
func (s *sacct) dependencies(job *capcli.Job) {
	c := &s.c
	if c.dependency < 0 && c.submitLine < 0 {
		return
	}
	text := string(trim(s.t.cell(c.dependency)))
	if text == "" || text == "(null)" {
		text = submittedWith(string(s.t.cell(c.submitLine)))
	}
	user := s.t.cell(c.user)
	key := string(user) + "\x00" + string(s.t.cell(c.name))
	if s.named == nil {
		s.named = map[string][]string{}
	}
	before := s.named[key]
	if n := len(before); n == 0 || before[n-1] != job.ID {
		if n >= 2*mostSingles {
			before = slices.Delete(before, 0, n-mostSingles)
		}
		s.named[key] = append(before, job.ID)
	}
	if text == "" {
		return
	}
	d, err := parseDependencies(text)
	if err != nil {
		s.r.Assume("a dependency that cannot be read: the job waits for nothing")
		return
	}
	if d.Singleton && len(user) > 0 && c.name >= 0 {
		for _, id := range before[max(0, len(before)-mostSingles):] {
			if id != job.ID {
				d.After = append(d.After, capcli.After{ID: id, When: capcli.AfterAny})
			}
		}
	}
	if len(d.After) > 0 {
		job.Stage = &capcli.Stage{After: d.After, One: d.One, Name: s.names.class.intern(s.t.cell(c.name))}
	}
}
