package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"capcli"
	"capcli/profile"
)

func init() {
	profile.Sources.Add("replay", "a folder that profile wrote, played again", func(o profile.SourceOptions) (profile.Source, error) {
		return replayJournal(nil, o)
	})
}

// recorded is a profile.Source that plays back a recorded folder.
type recorded struct {
	host string
	next func() (HostTick, error, bool)
	stop func()
}

// replayJournal returns a source of the ticks recorded of one box in the folder o.Where. o.Host
// names the box where the folder has several. The ticks have their recorded times, durations and
// events. A nil disk is System. It fails with *capcli.InputError where the folder does not hold
// exactly one box of that name.
func replayJournal(disk Disk, o profile.SourceOptions) (profile.Source, error) {
	if o.Where == "" {
		return nil, &capcli.InputError{Field: "where", Text: "the source replay wants the folder that capcli profile wrote", Hint: "--where gpu-profile"}
	}
	r := OpenDir(disk, o.Where)
	hosts, err := hosts(r.disk, r.root, spanOf(0, 0))
	if err != nil {
		return nil, err
	}
	host := o.Host
	switch {
	case len(hosts) == 0:
		return nil, &capcli.InputError{File: o.Where, Text: "expected a recording, found none", Hint: "is it a folder that capcli profile wrote?"}
	case host == "" && len(hosts) > 1:
		return nil, &capcli.InputError{File: o.Where, Field: "host", Text: fmt.Sprintf("expected one box, found %d: %s", len(hosts), names(hosts, 10)), Hint: "choose one with --host"}
	case host == "":
		host = hosts[0]
	case !slices.Contains(hosts, host):
		return nil, &capcli.InputError{File: o.Where, Field: "host", Text: fmt.Sprintf("there is no box %q, only %s", host, names(hosts, 10))}
	}
	s := &recorded{host: host}
	s.next, s.stop = iter.Pull2(r.Ticks(Query{Hosts: []string{host}, From: o.From, To: o.To}))
	return s, nil
}

// names joins the first most names with commas and counts the rest.
func names(all []string, most int) string {
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// Recorded returns true: the ticks have their own times.
func (s *recorded) Recorded() bool { return true }

// Host returns the name of the recorded box.
func (s *recorded) Host() string { return s.host }

// Close ends the playback.
func (s *recorded) Close() error {
	s.stop()
	return nil
}

// Read sets t to the next tick. It returns io.EOF at the end.
func (s *recorded) Read(_ context.Context, t *profile.Tick) error {
	next, err, more := s.next()
	switch {
	case !more:
		return io.EOF
	case err != nil:
		return err
	}
	was := *t
	*t = *next.Tick
	t.Samples, t.Processes, t.Events = append(was.Samples[:0], next.Samples...), append(was.Processes[:0], next.Processes...), append(was.Events[:0], next.Events...)
	t.Groups, t.Readings = append(was.Groups[:0], next.Groups...), append(was.Readings[:0], next.Readings...)
	return nil
}
