package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli/profile"
	"capcli/testdata/golden"
)

const aDay = 24 * time.Hour

// recordDays records four ticks on each day from 2026-11-24 on.
func recordDays(t *testing.T, d Disk, host string, days ...int) {
	t.Helper()
	w, _, err := Create("dir", Options{Disk: d, Host: host, Trouble: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	var tick profile.Tick
	for _, day := range days {
		b := newBox(uint64(day), 1, noon.Add(time.Duration(day)*aDay), time.Second)
		for range 4 {
			b.next(&tick)
			if err := w.Write(&tick); err != nil {
				t.Fatal(err)
			}
		}
	}
	shut(t, w)
}

// daysOf gives the days of a host, from 2026-11-24 on, and the number of ticks of each.
func daysOf(t *testing.T, d Disk, host string) map[int]int {
	t.Helper()
	got := map[int]int{}
	for tick, err := range OpenDir(d, "dir").Ticks(Query{Hosts: []string{host}}) {
		if err != nil {
			t.Fatal(err)
		}
		got[int(dayOf(tick.At)-dayOf(noon))]++
	}
	return got
}

func keptDays(t *testing.T, d Disk, host string) []int {
	t.Helper()
	return slices.Sorted(maps.Keys(daysOf(t, d, host)))
}

func prune(t *testing.T, d Disk, o PruneOptions) Pruned {
	t.Helper()
	got, err := Prune(context.Background(), d, "dir", o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func mustKeep(t *testing.T, text string) Keep {
	t.Helper()
	k, err := ParseKeep(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestParseKeep(t *testing.T) {
	for text, want := range map[string]Keep{
		"": {}, "90d": {Days: 90}, "2w": {Days: 14}, "50GB": {Bytes: 50e9}, "50GiB": {Bytes: 50 << 30}, "90d,1.5TB": {Days: 90, Bytes: 15e11}, " 7 d , 300 MiB": {Days: 7, Bytes: 300 << 20},
	} {
		got := mustKeep(t, text)
		if got.Days != want.Days || got.Bytes != want.Bytes || got.String() != text || got.IsAll() != (text == "") {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{"90", "d", "-1d", "0d", "1.5d", "0GB", "5 apples", "90d,30d", "1GB,2GB", "90d,", "1e9d", "1e30TB", ".GB", "50gb"} {
		if _, err := ParseKeep(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestPruneByAgeCountsTheDaysOfTicks(t *testing.T) {
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2, 5, 6)
	recordDays(t, d, "other", 0, 1)
	today := noon.Add(6 * aDay)
	got := prune(t, d, PruneOptions{Keep: mustKeep(t, "4d"), Today: today, Hosts: []string{"box"}})
	if want := []int{2, 5, 6}; !slices.Equal(keptDays(t, d, "box"), want) || len(got.Days) != 2 || len(got.Kept) != 0 {
		t.Errorf("kept %v, want %v: %+v", keptDays(t, d, "box"), want, got)
	}
	if d := got.Days[0]; d.Day != "2026-11-24" || d.Host != "box" || !strings.Contains(d.Why, "older than 4 days") {
		t.Error(d)
	}
	// The other box was off for long, and its clock may be wrong now: its age is that of its own days.
	prune(t, d, PruneOptions{Keep: mustKeep(t, "3d"), Today: noon.Add(3000 * aDay)})
	if want := []int{0, 1}; !slices.Equal(keptDays(t, d, "other"), want) {
		t.Errorf("kept %v of the other, want %v", keptDays(t, d, "other"), want)
	}
	if left, _ := d.List("dir/date=2026-11-25"); len(left) != 1 {
		t.Errorf("%v", left)
	}
}

// A clock that went to another century for a while takes no history with it.
func TestPruneAfterAClockJump(t *testing.T) {
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2, 40_000)
	for _, today := range []int{2, 3, 40_000} {
		got := prune(t, d, PruneOptions{Keep: mustKeep(t, "3d,1TB"), Today: noon.Add(time.Duration(today) * aDay)})
		if len(got.Days) != 0 {
			t.Fatalf("on day %d: %v", today, got.Days)
		}
	}
}

func TestPruneBySizeIsPerHost(t *testing.T) {
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2, 3)
	recordDays(t, d, "other", 0, 1, 2, 3)
	one := int64(0)
	for name, f := range d.files {
		if strings.HasPrefix(name, "dir/date=2026-11-26/host=box/") {
			one += int64(len(f.data))
		}
	}
	k := Keep{Bytes: 5 * one / 2}
	prune(t, d, PruneOptions{Keep: k, Hosts: []string{"box"}, Today: noon.Add(30 * aDay)})
	if want := []int{2, 3}; !slices.Equal(keptDays(t, d, "box"), want) {
		t.Errorf("kept %v, want %v", keptDays(t, d, "box"), want)
	}
	// Neither bound takes the newest day.
	prune(t, d, PruneOptions{Keep: Keep{Bytes: 1}, Hosts: []string{"box"}})
	if want := []int{3}; !slices.Equal(keptDays(t, d, "box"), want) {
		t.Errorf("kept %v, want %v", keptDays(t, d, "box"), want)
	}
	if len(keptDays(t, d, "other")) != 4 {
		t.Errorf("the other box has %v", keptDays(t, d, "other"))
	}
}

func TestPruneOfAFillingDisk(t *testing.T) {
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2, 3, 4)
	free := int64(100)
	room := func() (int64, bool) { free += 100; return free, true } // as each day goes
	got := prune(t, d, PruneOptions{Keep: mustKeep(t, "90d"), Today: noon.Add(4 * aDay), Room: room, Free: 350})
	if want := []int{2, 3, 4}; !slices.Equal(keptDays(t, d, "box"), want) || !strings.Contains(got.Days[0].Why, "disk has only 200 bytes") {
		t.Errorf("kept %v, want %v: %+v", keptDays(t, d, "box"), want, got)
	}
	room = func() (int64, bool) { return 0, false } // not known
	if got := prune(t, d, PruneOptions{Room: room, Free: 350}); len(got.Days) > 0 {
		t.Errorf("%+v", got)
	}
	room = func() (int64, bool) { return 0, true } // for ever
	prune(t, d, PruneOptions{Room: room, Free: 350, Today: noon.Add(4 * aDay)})
	if want := []int{3, 4}; !slices.Equal(keptDays(t, d, "box"), want) {
		t.Errorf("kept %v, want %v", keptDays(t, d, "box"), want)
	}
}

// recordUploads writes the record that these days are uploaded as they are.
func recordUploads(t *testing.T, d Disk, host string, days ...int) {
	t.Helper()
	u := &Upload{Host: host, Box: "b0", To: "s3://bucket/x", Days: map[string][]UploadedFile{}}
	for _, day := range days {
		date := dateOf(noon.Add(time.Duration(day) * aDay))
		files, err := d.List(path.Join("dir", datePrefix+date, hostFolder(host)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			u.Days[date] = append(u.Days[date], UploadedFile{Name: f.Name, Size: f.Size})
		}
	}
	if err := u.Write(d, "dir"); err != nil {
		t.Fatal(err)
	}
}

func sound(context.Context, *Upload, string) error { return nil }

func TestPruneKeepsWhatIsNotUploaded(t *testing.T) {
	const all = "1d,1kB"
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2, 3, 4, 5)
	o := PruneOptions{Keep: mustKeep(t, all), Uploading: true, Check: sound, Free: 1, Room: func() (int64, bool) { return 0, true }}
	if got := prune(t, d, o); len(got.Days) > 0 || len(got.Kept) != 5 {
		t.Errorf("nothing is uploaded: %+v", got)
	}
	o.Uploading = false // a record says so as well
	recordUploads(t, d, "box", 1, 2, 3)
	recordDays(t, d, "box", 3) // what came later is not uploaded
	o.Check = func(_ context.Context, u *Upload, day string) error {
		if day == "2026-11-26" {
			return errors.New("the bucket has lost it")
		}
		return nil
	}
	for range 2 {
		got := prune(t, d, o)
		if want := []int{0, 2, 3, 4, 5}; !slices.Equal(keptDays(t, d, "box"), want) || len(got.Kept) != 4 {
			t.Errorf("kept %v, want %v: %+v", keptDays(t, d, "box"), want, got)
		}
	}
	o.Check = nil
	if got := prune(t, d, o); len(got.Days) > 0 {
		t.Errorf("the bucket cannot be checked: %+v", got)
	}
	o.Check = sound
	d.files["dir/.wal/host=box/uploaded.json"].data = []byte("{")
	if got := prune(t, d, o); len(got.Days) > 0 {
		t.Errorf("the record is damaged: %+v", got)
	}
}

func TestPruneKeepsFilesOfOthers(t *testing.T) {
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2)
	d.files["dir/date=2026-11-24/host=box/notes.txt"] = &memFile{}
	d.files["dir/date=2026-11-25/host=box/.samples-00000002.merge.tmp"] = &memFile{}
	got := prune(t, d, PruneOptions{Keep: mustKeep(t, "1d")})
	if want := []int{0, 2}; !slices.Equal(keptDays(t, d, "box"), want) || len(got.Kept) != 1 || !strings.Contains(got.Kept[0].Why.Error(), "notes.txt") {
		t.Errorf("kept %v, want %v: %+v", keptDays(t, d, "box"), want, got)
	}
}

func TestPruneRefusesASecondProgram(t *testing.T) {
	d := newMemDisk()
	recordDays(t, d, "box", 0, 1, 2)
	lock, err := d.Lock("dir/.wal/host=box/"+mergeLock, "capcli profile compact")
	if err != nil {
		t.Fatal(err)
	}
	o := PruneOptions{Keep: mustKeep(t, "1d")}
	if _, err := Prune(context.Background(), d, "dir", o); err == nil || !strings.Contains(err.Error(), "is held by capcli profile compact") {
		t.Errorf("%v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if got := prune(t, d, o); len(got.Days) != 2 {
		t.Errorf("%+v", got)
	}
}

// Whichever call fails, or is the last before the program is killed or the power goes: a day is
// there whole or not at all, nothing is gone that had to stay, and the next run removes the rest.
func TestPruneKilledAtEveryCall(t *testing.T) {
	if golden.Short() {
		t.Skip("hundreds of kills, of one goroutine")
	}
	setup := func() *memDisk {
		d := newMemDisk()
		recordDays(t, d, "box", 0, 1, 2, 3, 4)
		recordDays(t, d, "other", 0)
		recordUploads(t, d, "box", 0, 1, 3)
		return d.diskAfterLoss(false)
	}
	o := PruneOptions{Keep: mustKeep(t, "1d"), Check: sound, Hosts: []string{"box"}}
	d := setup()
	first := d.calls
	prune(t, d, o)
	for at := 1; at <= d.calls-first; at++ {
		for _, way := range []string{"fails", "killed", "power"} {
			d := setup()
			d.failAt, d.forever, d.fault = d.calls+at, way != "fails", errCrashed
			_, err := Prune(context.Background(), d, "dir", o)
			if err == nil && way != "fails" {
				t.Fatalf("call %d: no error", at)
			}
			d = d.diskAfterLoss(way == "power")
			for round := range 2 {
				what := fmt.Sprintf("call %d, %s, round %d", at, way, round)
				got := daysOf(t, d, "box")
				for day, ticks := range got {
					if ticks != 4 {
						t.Fatalf("%s: day %d has %d ticks", what, day, ticks)
					}
				}
				if got[2] == 0 || got[4] == 0 || daysOf(t, d, "other")[0] != 4 {
					t.Fatalf("%s: %v", what, got)
				}
				prune(t, d, o)
			}
			if want := []int{2, 4}; !slices.Equal(keptDays(t, d, "box"), want) {
				t.Fatalf("call %d, %s: kept %v, want %v", at, way, keptDays(t, d, "box"), want)
			}
			for name := range d.files {
				if strings.Contains(name, gonePrefix) {
					t.Fatalf("call %d, %s: %s is left", at, way, name)
				}
			}
		}
	}
}

func FuzzUploadRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"host":"box","box":"b","to":"s3://x","days":{"2026-11-20":[{"name":"a","size":1}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		u, err := parseUpload(b, "box")
		if err == nil && (u.Host != "box" || u.Box == "") {
			t.Errorf("%+v", u)
		}
	})
}
