package profile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// promPlaces says in which box each GPU is, and which pods are exporters.
type promPlaces struct {
	homes     map[string]string // name of the box by UUID, as last seen
	clusters  map[string]string // cluster by the name of the box
	exporters map[string]bool   // pods that are known to be those of exporters
}

// promJob is a part of a server's configuration, which labels all its targets in one way.
type promJob struct {
	exported bool // the server renames labels of the exporters' pages
	mapped   bool // the exporters know who holds GPUs
	unsure   bool // the label pod may be that of the exporter or that of who holds the GPU
}

// place decides over all series of a part of the time range who holds the GPUs and which box each is
// in, and adds the series to the boxes.
func (s *promSource) place(ctx context.Context, series []*promSeries, from, to capcli.Time) error {
	if s.places.homes == nil {
		s.places = promPlaces{map[string]string{}, map[string]string{}, map[string]bool{}}
	}
	slices.SortStableFunc(series, func(a, b *promSeries) int { return strings.Compare(a.text, b.text) })
	jobs := map[string]*promJob{}
	for _, p := range series {
		if !p.own {
			p.labels.judge(jobs, s.places.exporters)
		}
	}
	targets, err := s.askTargets(ctx, jobs, from, to)
	if err != nil {
		return err
	}
	isExporter := func(pod string) bool { return s.places.exporters[pod] }
	groups := map[string][]*promSeries{} // by a name that does not stay
	for _, p := range series {
		l := &p.labels
		if p.own {
			s.add(s.box(cmp.Or(p.point.get("exported_host", "host"), "unknown")), p)
			continue
		}
		if j := jobs[l.job]; j.exported && l.plain.pod != "" {
			s.places.exporters[l.plain.pod] = true
		}
	}
	for _, p := range series {
		if p.own {
			continue
		}
		l := &p.labels
		name, stays := l.box(isExporter)
		l.settle(jobs[l.job].exported || targets[l.target()+l.plain.pod] || isExporter(l.plain.pod))
		jobs[l.job].mapped = jobs[l.job].mapped || l.mapped
		if !stays {
			groups[name] = append(groups[name], p)
			continue
		}
		name = s.places.nameIn(name, l)
		s.places.homes[l.uuid] = name
		s.add(s.box(name), p)
	}
	s.placeGroups(groups)
	for _, p := range series {
		if !p.own {
			p.labels.mapped = jobs[p.labels.job].mapped
		}
	}
	return nil
}

// judge takes what the labels say of their job and of exporters' pods.
func (l *dcgmLabels) judge(jobs map[string]*promJob, exporters map[string]bool) {
	j := jobs[l.job]
	if j == nil {
		j = &promJob{}
		jobs[l.job] = j
	}
	j.exported, j.mapped = j.exported || l.exported, j.mapped || l.mapped
	switch {
	case l.plain.pod == "":
	case l.isExporters(l.plain.pod, l.plain.container):
		exporters[l.plain.pod] = true
	default:
		j.unsure = true
	}
}

// target is the exporter of a series, for a server.
func (l *dcgmLabels) target() string { return l.job + "\x00" + l.address + "\x00" }

// askTargets asks for the labels that the server itself gives to its targets, those of the metric up,
// where nothing else says whether a pod is that of an exporter. It returns the targets with their pods.
// A server that does not answer this question tells nothing.
func (s *promSource) askTargets(ctx context.Context, jobs map[string]*promJob, from, to capcli.Time) (map[string]bool, error) {
	var unsure []string
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		if j := jobs[name]; j.unsure && !j.exported && name != "" {
			unsure = append(unsure, regexp.QuoteMeta(name))
		}
	}
	if len(unsure) == 0 {
		return nil, nil
	}
	long := to - from + capcli.Time(s.step)
	query := fmt.Sprintf("last_over_time(up{job=~%s}[%ds])", strconv.Quote(strings.Join(unsure, "|")), long)
	all, err := s.o.Range(ctx, query, to, to, capcli.Seconds(long))
	if err != nil {
		return nil, ctx.Err()
	}
	targets := map[string]bool{}
	for i := range all {
		var l dcgmLabels
		l.read(&point{labels: labelsOf(all[i].Labels)})
		if pod := l.plain.pod; pod != "" {
			targets[l.target()+pod] = true
			s.places.exporters[pod] = true
		}
	}
	return targets, nil
}

// nameIn returns the name of the box called name in the cluster of l. Where clusters have boxes of one
// name, all but one have that of the cluster in theirs.
func (w *promPlaces) nameIn(name string, l *dcgmLabels) string {
	known := w.clusters[name]
	switch {
	case l.cluster == "" || known == l.cluster || w.homes[l.uuid] == name:
		return name
	case known == "":
		w.clusters[name] = l.cluster
		return name
	default:
		return name + "@" + l.cluster
	}
}

// placeGroups places the series whose box has no name that stays: an exporter's pod, or its address,
// which change when it is started again. A box is then known by its GPUs, and has the first name under
// which they were seen.
func (s *promSource) placeGroups(groups map[string][]*promSeries) {
	names := slices.Collect(maps.Keys(groups))
	begin := func(name string) (first capcli.Time) {
		for i, p := range groups[name] {
			if len(p.of.At) > 0 && (i == 0 || p.of.At[0] < first) {
				first = p.of.At[0]
			}
		}
		return first
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(begin(a), begin(b)), strings.Compare(a, b)) })
	for _, name := range names {
		home := ""
		for _, p := range groups[name] {
			home = cmp.Or(home, s.places.homes[p.labels.uuid])
		}
		home = cmp.Or(home, name)
		for _, p := range groups[name] {
			s.places.homes[p.labels.uuid] = cmp.Or(s.places.homes[p.labels.uuid], home)
			s.add(s.box(s.places.homes[p.labels.uuid]), p)
		}
	}
}

func (s *promSource) box(host string) *promBox {
	b := s.boxes[host]
	if b == nil {
		b = &promBox{host: host, dcgm: newDCGMSource(s.o), own: newOwnBox(s.o), named: host == s.o.Host}
		s.boxes[host] = b
	}
	return b
}

func (s *promSource) add(b *promBox, p *promSeries) {
	l := &p.labels
	b.named = b.named || !p.own && s.o.Host != "" && slices.Contains([]string{l.hostname, l.node, l.address}, s.o.Host)
	b.parts = append(b.parts, p)
}

// hostLabels are the labels that may name a box.
var hostLabels = []string{"hostname", "Hostname", "node", "kubernetes_node", "exported_instance", "instance"}

// selectors returns the label matchers of the box in the options: its GPUs, where they are known.
func (s *promSource) selectors() (all []string) {
	if len(s.gpus) > 0 {
		quoted := capcli.Map(s.gpus, regexp.QuoteMeta)
		for _, l := range []string{"UUID", "uuid", "gpu_uuid"} {
			all = append(all, l+"=~"+strconv.Quote(strings.Join(quoted, "|")))
		}
		return all
	}
	for _, l := range hostLabels {
		all = append(all, l+"="+strconv.Quote(s.o.Host))
	}
	return all
}

// findBy are the fields by which GPUs are found. Exporters have them by default.
var findBy = []string{"DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP_CELSIUS"}

// findPoints is the number of points over the time range at which they are asked for.
const findPoints = 100

// find learns over the whole time range in which boxes the GPUs are, and which are those of the box in
// the options, so that what was recorded under other labels is of the same box.
func (s *promSource) find(ctx context.Context) error {
	s.isFound = true
	if s.o.Host != "" {
		series, err := s.ask(ctx)
		if err != nil {
			return err
		}
		for _, p := range series {
			if !slices.Contains(s.gpus, p.labels.uuid) {
				s.gpus = append(s.gpus, p.labels.uuid)
			}
		}
		slices.Sort(s.gpus)
	}
	series, err := s.ask(ctx)
	if err != nil {
		return err
	}
	return s.place(ctx, series, s.next, s.to)
}

// ask returns the series of one of findBy, at some points over the time range.
func (s *promSource) ask(ctx context.Context) (series []*promSeries, err error) {
	step := max((s.to-s.next)/findPoints, capcli.Time(s.step))
	for _, name := range findBy {
		query := name
		if s.o.Host != "" {
			query = strings.Join(capcli.Map(s.selectors(), func(sel string) string { return name + "{" + sel + "}" }), " or ")
		}
		all, err := s.o.Range(ctx, query, s.next, s.to+step, capcli.Seconds(step))
		if err != nil {
			return nil, err
		}
		for i := range all {
			if p := newPromSeries(name, &all[i]); p != nil {
				series = append(series, p)
			}
		}
		if len(series) > 0 {
			break
		}
	}
	return series, nil
}
