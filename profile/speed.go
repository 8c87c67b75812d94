package profile

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// mostSpeeds is the most jobs that WriteSpeed writes one by one: whatif plays a scenario once for each entry. Of more, each
// tenant is an entry of its own.
const mostSpeeds = 8

// mostSpeedJobs is the most jobs of an entry.
const mostSpeedJobs = 4000

// starved is a job, or the jobs of a tenant, that waited for input.
type starved struct {
	tenant     string
	ids        []string
	held, lost int64 // microseconds
}

// WriteSpeed writes the speed block of a scenario that says how many times as fast each job is whose input keeps up:
// the time held over the time held without the pauses between bursts; of many jobs, all of a tenant together. It returns
// the number of jobs, and of those that were left out because there are too many.
func (s *Summary) WriteSpeed(w io.Writer) (jobs, left int, err error) {
	all := s.starvedJobs()
	if len(all) > mostSpeeds {
		all = byTenant(all)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# How many times as fast each job is if it never waits for input: the most that faster input can gain.\nspeed:\n")
	if len(all) == 0 {
		out.WriteString("  []\n")
	}
	for _, x := range all {
		whose := ""
		if x.tenant != "" {
			whose = "tenants: [" + strconv.Quote(x.tenant) + "], "
		}
		ids := capcli.Map(x.ids[:min(len(x.ids), mostSpeedJobs)], strconv.Quote)
		jobs, left = jobs+len(ids), left+len(x.ids)-len(ids)
		fmt.Fprintf(&out, "  - {%sjobs: [%s], factor: %s, because: input kept up}\n", whose, strings.Join(ids, ", "), strconv.FormatFloat(math.Round(x.factor()*1e6)/1e6, 'f', -1, 64))
	}
	_, err = io.WriteString(w, out.String())
	return jobs, left, err
}

// factor is how many times as fast the jobs are without waits; 1000 at most.
func (x *starved) factor() float64 { return min(float64(x.held)/float64(max(1, x.held-x.lost)), 1000) }

// starvedJobs returns the jobs that would gain, those that lost most first.
func (s *Summary) starvedJobs() []*starved {
	var all []*starved
	at := map[[2]string]*starved{}
	for _, j := range s.Jobs {
		if j.Kind == unknownKind || j.Use.Starved == 0 {
			continue
		}
		key := [2]string{j.Tenant, j.ID}
		if at[key] == nil {
			at[key] = &starved{tenant: j.Tenant, ids: []string{j.ID}}
			all = append(all, at[key])
		}
		at[key].held += j.Use.Held
		at[key].lost += j.Use.Starved
	}
	all = slices.DeleteFunc(all, func(x *starved) bool { return x.factor() < leastFactor })
	slices.SortFunc(all, func(a, b *starved) int {
		return cmp.Or(cmp.Compare(b.lost, a.lost), strings.Compare(a.tenant, b.tenant), strings.Compare(a.ids[0], b.ids[0]))
	})
	return all
}

// byTenant sums up the jobs of each tenant.
func byTenant(all []*starved) []*starved {
	var out []*starved
	at := map[string]*starved{}
	for _, x := range all {
		t := at[x.tenant]
		if t == nil {
			t = &starved{tenant: x.tenant}
			at[x.tenant] = t
			out = append(out, t)
		}
		t.ids = append(t.ids, x.ids...)
		t.held, t.lost = t.held+x.held, t.lost+x.lost
	}
	return out
}
