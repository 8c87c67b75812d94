package slurm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// priorities are what sprio, squeue and sshare say of a site.
type priorities struct {
	Now   int64      `json:"now"`
	Jobs  []jobRow   `json:"jobs"`
	Users []shareRow `json:"sshare"`
}

// jobRow is a job with its priority.
type jobRow struct {
	ID       string         `json:"id"`
	State    string         `json:"state"`
	Priority int64          `json:"priority"` // 0 is held
	Computed int64          `json:"computed_s,omitempty"`
	Total    float64        `json:"total,omitempty"` // the sum before it is cut
	Log      map[string]any `json:"log,omitempty"`   // factors as slurmctld logs them; w and tw are weighted
	Factors  []sprioRow     `json:"factors,omitempty"`
}

// sprioRow is a row of sprio: a job in a partition.
type sprioRow struct {
	Partition  string         `json:"partition"`
	Priority   int64          `json:"priority"`
	Weighted   map[string]any `json:"weighted"`
	Normalised map[string]any `json:"normalised"`
	Nice       string         `json:"nice"`
}

// shareRow is a row of sshare.
type shareRow struct {
	Account    string  `json:"account"`
	User       string  `json:"user"`
	NormShares float64 `json:"norm_shares"`
	Effective  float64 `json:"effectv_usage"`
	FairShare  float64 `json:"fairshare"`
	LevelFS    string  `json:"level_fs"`
}

// answer returns the priorities of all jobs of the site as slurmctld last computed them: at submission
// and at the last of the computations, which are a period apart from its start on.
func (r *rules) answer() *priorities {
	s := r.site
	a := &priorities{Now: s.Now}
	direct := map[string]int64{}
	if s.Submissions != nil {
		for i := range s.Submissions.Jobs {
			j := &s.Submissions.Jobs[i]
			direct[j.ID] = max(0, j.int("priority", 0))
		}
	}
	start := s.Boot + 1
	if s.Since >= s.Boot && s.Since <= s.Boot+5 {
		start = s.Since - 1
	}
	last := start + max(0, s.Now-start)/r.period*r.period
	for _, j := range s.Jobs {
		a.Jobs = append(a.Jobs, r.row(j, last, direct[j.ID]))
	}
	r.listShares(a, s.Root)
	return a
}

// row returns the row of a job; computed is the last computation, direct the priority that its user stated.
func (r *rules) row(j *shownJob, computed, direct int64) jobRow {
	s, pending := r.site, j.State == "PENDING"
	row := jobRow{ID: j.ID, State: j.State}
	tiers := s.byTier(j.Partitions)
	if strings.HasPrefix(j.Reason, "JobHeld") && pending {
		return row
	}
	if row.Computed = max(computed, j.Submit); !pending {
		row.Computed = j.Submit
	}
	if len(tiers) == 0 {
		return row
	}
	waits := j.Eligible == 0 || j.Eligible > s.Now
	last := tiers[0]
	switch {
	case row.Computed == j.Submit:
		last = cmp.Or(s.findPartition(j.Partitions[0]), last)
	case !waits: // as the scheduler, which tries them all, has left it
		parts := slices.Clone(tiers)
		slices.SortStableFunc(parts, func(a, b *partition) int {
			return cmp.Or(cmp.Compare(b.Tier, a.Tier), cmp.Compare(r.priority(&j.subject, b, row.Computed), r.priority(&j.subject, a, row.Computed)))
		})
		last = parts[len(parts)-1]
	}
	if row.Priority = direct; direct == 0 {
		f := r.factors(&j.subject, last, row.Computed)
		row.Total = r.sum(&f, j.Nice)
		row.Priority, row.Log = cut(row.Total), r.log(&f)
		if r.increase && len(tiers) == 1 {
			row.Priority = max(row.Priority, r.priority(&j.subject, last, j.Submit))
		}
	}
	if !pending && !r.running || waits && !r.always {
		return row
	}
	for _, p := range tiers {
		row.Factors = append(row.Factors, r.sprio(j, p, &row, len(tiers) > 1, direct))
	}
	return row
}

// log returns the factors as slurmctld logs them.
func (r *rules) log(f *factors) map[string]any {
	weighted, tres, tw := map[string]float64{}, map[string]float64{}, map[string]float64{}
	out := map[string]any{"w": weighted, "tres": tres, "tw": tw, "site": 0}
	for i, name := range factorNames {
		out[name], weighted[name] = f.six[i], f.six[i]*r.weights.six[i]
	}
	for _, t := range f.tres {
		tres[t.name], tw[t.name] = t.value, t.value*t.weight
	}
	return out
}

func (r *rules) sprio(j *shownJob, p *partition, row *jobRow, several bool, direct int64) sprioRow {
	f := r.factors(&j.subject, p, row.Computed)
	out := sprioRow{p.Name, row.Priority, map[string]any{"site": 0}, map[string]any{}, fmt.Sprint(j.Nice)}
	if direct > 0 {
		f, out.Nice = factors{}, "0"
	} else if several {
		out.Priority = int64(max(1, r.sum(&f, j.Nice)))
	}
	for i, name := range factorNames {
		out.Weighted[name], out.Normalised[name] = int64(math.RoundToEven(f.six[i]*r.weights.six[i])), fmt.Sprintf("%.7f", f.six[i])
	}
	var weighted, normalised []string
	for _, t := range f.tres {
		weighted = append(weighted, fmt.Sprintf("%s=%.0f", t.name, math.RoundToEven(t.value*t.weight)))
		normalised = append(normalised, fmt.Sprintf("%s=%.2f", t.name, t.value))
	}
	out.Weighted["tres"], out.Normalised["tres"] = strings.Join(weighted, ","), strings.Join(normalised, ",")
	return out
}

// listShares appends the rows of sshare below an account.
func (r *rules) listShares(a *priorities, n *assoc) {
	if n == nil {
		return
	}
	for _, c := range n.Children {
		level := ""
		switch {
		case r.classic || c.Shares == parentShares:
		case math.IsInf(c.levelFS, 1):
			level = "inf"
		default:
			level = fmt.Sprintf("%.6f", c.levelFS)
		}
		a.Users = append(a.Users, shareRow{c.Account, c.User, c.norm, c.effective, c.factor, level})
		r.listShares(a, c)
	}
}
