package kubelet

import (
	"cmp"
	"context"
	"strings"
	"time"

	"capcli"
	"capcli/profile"
)

// Vendor is the part before the slash in the names of NVIDIA's resources.
const Vendor = "nvidia.com"

const (
	askEvery = 10 * time.Second // between questions to the kubelet
	keepFor  = 2 * time.Minute  // of an answer, when later questions fail
)

// Lister tells which containers hold devices.
type Lister interface {
	Holdings(ctx context.Context, vendor string) ([]Holding, error)
	Close()
}

// Wrap returns a source that adds to the ticks of src which pods hold the GPUs. A process on a GPU that one
// pod holds is that pod's, where src could not name its pod; a pod without a process on its GPU is there as a
// process without a number, because the GPU is held all the same. The kubelet is asked beside the sampling,
// which never waits for it.
func Wrap(src profile.Source, kubelet Lister) profile.Source {
	s := &source{Source: src, kubelet: kubelet, ask: make(chan struct{}, 1), got: make(chan answer, 1), held: map[string][]pod{}}
	go s.listen()
	return s
}

// pod is a pod by its name.
type pod struct{ namespace, name string }

type answer struct {
	list []Holding
	err  error
}

type source struct {
	profile.Source
	kubelet Lister
	ask     chan struct{}
	got     chan answer
	asked   profile.Instant // time of the last question; 0 is none
	told    profile.Instant // time of the last answer
	busy    bool
	held    map[string][]pod // by UUID of the GPU or MIG instance
}

// listen asks the kubelet, on a goroutine of its own.
func (s *source) listen() {
	for range s.ask {
		list, err := s.kubelet.Holdings(context.Background(), Vendor)
		s.got <- answer{list, err}
	}
	s.kubelet.Close()
}

// Close closes the source behind it, and ends the questions.
func (s *source) Close() error {
	close(s.ask)
	return s.Source.Close()
}

// Read reads a tick and adds the pods, in ticks that look at processes.
func (s *source) Read(ctx context.Context, t *profile.Tick) error {
	if err := s.Source.Read(ctx, t); err != nil {
		return err
	}
	s.listenOnce(t.At)
	if !s.busy && (s.asked == 0 || t.At.Sub(s.asked) >= askEvery || t.At < s.asked) {
		s.busy, s.asked = true, t.At
		s.ask <- struct{}{}
	}
	if t.LookedAtProcesses {
		s.name(t)
	}
	return nil
}

// listenOnce takes an answer that has come, and forgets an old one.
func (s *source) listenOnce(at profile.Instant) {
	select {
	case a := <-s.got:
		s.busy = false
		if a.err == nil {
			s.learn(a.list)
			s.told = at
		}
	default:
	}
	if at.Sub(s.told) > keepFor {
		clear(s.held)
	}
}

func (s *source) learn(list []Holding) {
	clear(s.held)
	for i := range list {
		h := &list[i]
		for _, d := range h.Devices {
			uuid, p := UUID(d), pod{h.Namespace, h.Pod}
			known := false
			for _, q := range s.held[uuid] {
				known = known || q == p
			}
			if !known {
				s.held[uuid] = append(s.held[uuid], p)
			}
		}
	}
}

// name adds the pods to the processes of a tick.
func (s *source) name(t *profile.Tick) {
	for i := range t.Processes {
		p := &t.Processes[i]
		if pods := s.held[p.Device.UUID]; len(pods) == 1 && p.Job == "" && !isNamed(p) {
			p.Namespace, p.Pod = pods[0].namespace, pods[0].name
		}
	}
	n := len(t.Processes)
	for i := range t.Samples {
		d := t.Samples[i].Device
		for _, held := range s.held[d.UUID] {
			if !hasPod(t.Processes[:n], d, held) {
				t.Processes = append(t.Processes, profile.Process{
					Device: d, Namespace: held.namespace, Pod: held.name, Kind: "allocated", MemWhy: profile.NotAsked, SMWhy: profile.NotAsked, Start: capcli.NoTime,
				})
			}
		}
	}
}

// isNamed reports whether a process has the name of a pod: not none, and not the UID that a control group has.
func isNamed(p *profile.Process) bool {
	const uid = 36
	return p.Pod != "" && p.Namespace != "" && (len(p.Pod) != uid || strings.Count(p.Pod, "-") != 4)
}

// hasPod reports whether a pod has a process on a device, or a process there may be the pod's: one whose pod
// is not known.
func hasPod(list []profile.Process, d *profile.Device, held pod) bool {
	for i := range list {
		p := &list[i]
		if p.Device == d && (p.Pod == "" && p.Job == "" || p.Pod == held.name && cmp.Or(p.Namespace, held.namespace) == held.namespace) {
			return true
		}
	}
	return false
}
