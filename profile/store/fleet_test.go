package store

import (
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/profile"
)

// noSync is the disk without waiting for it, for files that can be made again.
type noSync struct{ System }

type noSyncFile struct{ File }

func (noSyncFile) Sync() error { return nil }

func (noSync) SyncDir(string) error { return nil }

func (n noSync) Create(name string) (File, error) {
	f, err := n.System.Create(name)
	return noSyncFile{f}, err
}

// fleetDay is the roll-up of a recorded day.
type fleetDay struct {
	hours *block
	in    numbers
	meta  map[string]string
}

// TestMakeFleet makes a fleet of roll-ups of one that was recorded, to measure summaries of many boxes:
//
//	capcli profile --source fake --speed 0 --seed 1 --host real-1 --start 2026-11-01T00:00:00Z --for 144h --out real
//	capcli profile compact real
//	CAPCLI_FLEET_FROM=real CAPCLI_FLEET=fleet CAPCLI_FLEET_HOSTS=1000 go test ./profile/store -run MakeFleet -timeout 1h
//	/usr/bin/time -v capcli profile summary fleet
//
// Each box has the recorded days of one recorded box over and over for 30 days, with GPUs and jobs of its
// own. Of the tables there are hours, and of ticks a row for each hour: no others are read.
func TestMakeFleet(t *testing.T) {
	from, to := os.Getenv("CAPCLI_FLEET_FROM"), os.Getenv("CAPCLI_FLEET")
	if from == "" || to == "" {
		t.Skip("CAPCLI_FLEET_FROM and CAPCLI_FLEET name no folders")
	}
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return otherwise
		}
		return n
	}
	boxes, days := number("CAPCLI_FLEET_HOSTS", 1000), number("CAPCLI_FLEET_DAYS", 30)
	recorded, err := hosts(System{}, from, spanOf(0, 0))
	if err != nil || len(recorded) == 0 {
		t.Fatal(recorded, err)
	}
	var all [][]fleetDay
	for _, host := range recorded {
		all = append(all, readFleetDays(t, from, host))
	}
	err = capcli.EachParallel(context.Background(), boxes, func(_ context.Context, i int) error {
		of := all[i%len(all)]
		for d := range days {
			if err := writeFleetDay(to, fmt.Sprintf("gpu-%04d", i), &of[d%len(of)], d, d/len(of)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readFleetDays(t *testing.T, root, host string) (out []fleetDay) {
	l, err := list(System{}, root, host)
	if err != nil {
		t.Fatal(err)
	}
	l.settle()
	all, err := l.days(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		o, _, err := l.openRollUp(&all[i], segmentsBefore(all, i), all[i].hours)
		if err != nil || o == nil {
			continue // the last, which has no samples
		}
		f := fleetDay{hours: newBlock(hours), in: o.in, meta: map[string]string{metaLead: "1"}}
		for _, key := range [...]string{metaTicks, metaTold} {
			f.meta[key], _ = o.Meta(key)
		}
		for g := range o.groups {
			if err := o.block(g, f.hours); err != nil {
				t.Fatal(err)
			}
		}
		o.close()
		out = append(out, f)
	}
	return out
}

// writeFleetDay writes day d of a box, the round-th time that the recorded day comes.
func writeFleetDay(root, host string, f *fleetDay, d, round int) error {
	const first = profile.Instant(1_793_491_200_000_000) // 2026-11-01T00:00:00Z
	begin := first + profile.Instant(d)*oneDay
	dir := path.Join(datePrefix+DateOf(begin), hostFolder(host))
	seen := profile.Instant(f.hours.cols[hourTS].Ints[0])
	by := begin - seen + seen%oneDay
	b := newBlock(hours)
	b.rows(f.hours, nil)
	words, uuids := map[string]string{}, map[string]string{}
	rename := func(cache map[string]string, all []string, name func(string) string) {
		for k, s := range all {
			if _, ok := cache[s]; !ok {
				cache[s] = name(s)
			}
			all[k] = cache[s]
		}
	}
	for _, col := range [...]int{hourTS, hourBegin, hourFirst, hourLast} {
		for k := range b.cols[col].Ints {
			b.cols[col].Ints[k] += int64(by)
		}
	}
	rename(uuids, b.cols[hourUUID].Texts, func(s string) string { return s[:len(s)-4] + host[len(host)-4:] })
	rename(words, b.cols[hourHolders].Texts, func(s string) string {
		return strings.ReplaceAll(s, `","PID":`, fmt.Sprintf(`.%s.%d","PID":`, host[4:], round))
	})
	tickRows := newBlock(ticks)
	for h := range profile.Instant(24) {
		tickRows.int(tickTS, int64(begin+h*oneHour))
		for col := tickElapsed; col <= tickLooked; col++ {
			tickRows.int(col, 1_000_000)
		}
		tickRows.n++
	}
	l := &listing{disk: noSync{}, root: root, host: host}
	in := numbers{int64(d + 1)}
	lead := ""
	if d > 0 {
		lead = numbers{int64(d)}.String()
	}
	meta := map[string]string{metaProgram: "test", metaLead: lead, metaTicks: f.meta[metaTicks], metaTold: "0"}
	if _, err := l.writeRollUp(&day{dir: dir, in: in}, hours, b, meta); err != nil {
		return err
	}
	_, err := l.writeRollUp(&day{dir: dir, in: in}, ticks, tickRows, meta)
	return err
}
