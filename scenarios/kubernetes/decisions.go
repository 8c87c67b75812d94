package kubernetes

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"capcli/scenarios/kubernetes/kueue"
)

// WriteDecisions writes the decisions as CSV, in their order: t_s, cycle, event, workload, flavors, by,
// reason. Flavors are podset.resource=flavor, with the number of pods where fewer start than were asked
// for, and with their hosts where they are placed on hosts. guard makes a text safe for spreadsheets.
func (s *Study) WriteDecisions(w io.Writer, guard func(string) string) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"t_s", "cycle", "event", "workload", "flavors", "by", "reason"}); err != nil {
		return err
	}
	for i := range s.Decided.Decisions {
		d := &s.Decided.Decisions[i]
		if err := out.Write([]string{fmt.Sprint(int64(d.At)), fmt.Sprint(d.Cycle), d.Event, guard(d.Workload), guard(flavorsText(d)), guard(d.By), d.Reason}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// flavorsText writes the flavors of an admission, by pod set and resource.
func flavorsText(d *kueue.Decision) string {
	var parts []string
	for _, set := range slices.Sorted(maps.Keys(d.Flavors)) {
		for _, r := range slices.Sorted(maps.Keys(d.Flavors[set])) {
			parts = append(parts, set+"."+r+"="+d.Flavors[set][r])
		}
		if n, fewer := d.Counts[set]; fewer {
			parts = append(parts, fmt.Sprintf("%s.count=%d", set, n))
		}
		for _, x := range d.Domains[set] {
			parts = append(parts, fmt.Sprintf("%s@%s=%d", set, strings.Join(x.Values, "/"), x.Count))
		}
	}
	return strings.Join(parts, ";")
}
