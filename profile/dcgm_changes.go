package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// hold adds the holder in the labels of a point. The same holder comes with each metric, and each
// of several holders of one device has points of its own.
func (r *dcgmRow) hold(l *dcgmLabels) {
	switch {
	case l.plain.pod != "" && !l.isExporters(l.plain.pod, l.plain.container):
		h := l.plain
		h.job = l.holder.job
		r.plain = addHolder(r.plain, &h)
	case l.holder.pod != "" && !l.isExporters(l.holder.pod, ""):
		r.holders = addHolder(r.holders, &l.holder)
	case l.holder.job != "":
		r.holders = addHolder(r.holders, &dcgmHolder{job: l.holder.job})
	}
}

func addHolder(all []dcgmHolder, h *dcgmHolder) []dcgmHolder {
	for i := range all {
		if o := &all[i]; o.isSame(h) {
			o.container = cmp.Or(o.container, h.container)
			o.job = cmp.Or(o.job, h.job)
			return all
		}
	}
	return append(all, *h)
}

// settleHolders decides over the whole scrape whether plain labels name the holders: they do unless a
// server renamed the exporter's labels in any of its points.
func (s *dcgmSource) settleHolders() {
	for _, r := range s.order {
		if r.round != s.round {
			continue
		}
		for i := range r.plain {
			h := r.plain[i]
			if s.exported {
				h = dcgmHolder{job: h.job}
			}
			if h != (dcgmHolder{}) {
				s.tells = true
				r.holders = addHolder(r.holders, &h)
			}
		}
	}
}

// tellChanges adds events of the devices that came and went since the last scrape. What a device did
// while it was not on the page is not known: it has no samples then.
func (s *dcgmSource) tellChanges(t *Tick) {
	var divided []string // GPUs whose instances are others
	for _, r := range s.order {
		if d := r.device; s.told && d.MIG() && r.isChanged(s.round) && !slices.Contains(divided, d.Parent) {
			divided = append(divided, d.Parent)
			n, words := s.instancesOf(d.Parent)
			t.Events = append(t.Events, Event{At: t.At, Kind: MIGChanged, Device: d.Parent, Value: n, Text: words})
		}
	}
	for _, r := range s.order {
		now := r.round == s.round
		if d := r.device; s.told && !d.MIG() && r.isChanged(s.round) && !slices.Contains(divided, d.UUID) {
			e := Event{At: t.At, Kind: GPUBack, Device: d.UUID, Text: "the GPU is there again"}
			switch {
			case !now:
				e.Kind, e.Text = GPULost, "the exporter does not tell of the GPU any more"
			case !r.known:
				e.Text = "a GPU that was not there before"
			}
			t.Events = append(t.Events, e)
		}
		r.there, r.known = now, r.known || now
	}
	s.told = true
}

// isChanged reports whether the device came, went or became another since the last scrape.
func (r *dcgmRow) isChanged(round int) bool {
	now := r.round == round
	return now != r.there || now && !r.known
}

// instancesOf counts and names the instances of a GPU in this scrape.
func (s *dcgmSource) instancesOf(parent string) (n int64, words string) {
	var names []string
	for _, r := range s.order {
		if r.round == s.round && r.device.Parent == parent {
			names = append(names, fmt.Sprintf("%s (%d)", r.device.Profile, r.device.GI))
		}
	}
	if len(names) == 0 {
		return 0, "no instances"
	}
	return int64(len(names)), "instances " + strings.Join(names, ", ")
}
