// Package upkeep keeps the folder of a recorder in order: it merges the files of days that have
// ended, uploads them to a bucket, and removes the oldest days. Keeper does so beside a recording.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"capcli"
	"capcli/profile"
	"capcli/profile/bucket"
	"capcli/profile/store"
)

// Request says what is done with a folder.
type Request struct {
	Dir      string
	Hosts    []string        // nil is all
	Before   profile.Instant // only days that ended by this instant are merged and uploaded; 0 selects all days
	Today    profile.Instant // an instant of the current day, which is never removed
	Compact  bool            // merge the files of each day
	Upload   string          // s3://BUCKET/PREFIX; "" uploads nothing
	TakeOver bool            // the box takes its host's name in the bucket from another box
	Keep     store.Keep      // what is kept of each host
	// MakeRoom says that something could not be written for lack of room: then at least one day is
	// removed, if one may be.
	MakeRoom bool
	Program  string // version of capcli, written into merged files
	Holder   string // name of this program, shown to another program that finds the lock taken
}

// Check returns a *capcli.RequestError for a request that is wrong whatever the folder is.
func (r *Request) Check() error {
	if bucket.IsName(r.Dir) {
		return &capcli.RequestError{Text: r.Dir + " is in a bucket, which is only read", Hint: "name the folder of a recorder on this box"}
	}
	if r.Upload == "" {
		return nil
	}
	return bucket.CheckName(r.Upload)
}

// Sources give Run access to what it works on.
type Sources struct {
	Disk   store.Disk // nil is that of the system
	Bucket func(name string) (*bucket.Bucket, error)
	// Room returns the free bytes of the disk of the folder and its size; ok is false where they
	// are not known. Nil is not known.
	Room   func() (free, size int64, ok bool)
	NewBox func() string // makes a random name
	// Progress is called with the bytes uploaded and to upload.
	Progress func(done, total int64)
}

// Result is what Run did. It is the document capcli/profile_upkeep/v1.
type Result struct {
	Schema string `json:"schema"`
	// Merged files were merged into Into files with Rows rows. Leftovers of earlier runs were removed.
	Merged    int   `json:"merged_files"`
	Into      int   `json:"into_files"`
	Rows      int64 `json:"merged_rows"`
	Leftovers int   `json:"leftover_files"`
	// Uploaded files are in the bucket now. Known files were there already. Replaced files were
	// removed from the bucket, whose rows are all in newer files.
	Uploaded      int    `json:"uploaded_files"`
	UploadedBytes int64  `json:"uploaded_bytes"`
	Known         int    `json:"known_files"`
	Replaced      int    `json:"replaced_files"`
	Bucket        string `json:"bucket,omitempty"`
	// Removed days are gone from the folder. Kept days had to go and must not.
	Removed []RemovedDay `json:"removed_days"`
	Kept    []KeptDay    `json:"kept_days"`
	Bad     []string     `json:"bad_files"` // files and days that were left as they are, and why

	r *Request
}

// RemovedDay is a day of a host that was removed from the folder.
type RemovedDay struct {
	Host  string `json:"host"`
	Day   string `json:"day"` // 2026-11-20
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
	Why   string `json:"why"`
}

// String is a line about the removal.
func (d RemovedDay) String() string {
	return fmt.Sprintf("removed %s of %s, %s bytes: %s", d.Day, d.Host, capcli.Grouped(d.Bytes), d.Why)
}

// KeptDay is a day of a host that was to be removed and had to stay.
type KeptDay struct {
	Host string `json:"host"`
	Day  string `json:"day"` // 2026-11-20
	Why  string `json:"why"`
}

// Lead says in one sentence what was done.
func (r *Result) Lead() string {
	var all []string
	if r.r.Compact {
		all = append(all, fmt.Sprintf("%d files became %d, %s rows; %d left from earlier were removed", r.Merged, r.Into, capcli.Grouped(r.Rows), r.Leftovers))
	}
	if r.r.Upload != "" {
		all = append(all, fmt.Sprintf("%d files, %s bytes, were uploaded to %s, and %d removed there that they replace", r.Uploaded, capcli.Grouped(r.UploadedBytes), r.Bucket, r.Replaced))
	}
	if !r.r.Keep.IsAll() {
		n := int64(len(r.Removed))
		all = append(all, fmt.Sprintf("%d %s removed, %d kept that %v would remove", n, capcli.Plural(n, "day"), len(r.Kept), r.r.Keep))
	}
	return strings.Join(all, "; ") + "."
}

// Notes are the removed days, and the days and files that had to stay.
func (r *Result) Notes() []string {
	var all []string
	for _, d := range r.Removed {
		all = append(all, d.String())
	}
	for _, d := range r.Kept {
		all = append(all, fmt.Sprintf("%s of %s is kept: %s", d.Day, d.Host, d.Why))
	}
	return append(all, r.Bad...)
}

// A disk is filling up when less than lowShare of it is free, but not where lowBytes are.
const (
	lowShare = 20 // a twentieth
	lowBytes = 256 << 20
)

// leastFree is the number of bytes that must be free on a disk of that size.
func leastFree(size int64) int64 { return min(size/lowShare, lowBytes) }

// Run does what r says: first, on a disk that is filling up, it removes days, then it merges,
// uploads and removes. Where one of these fails it still does the others. It returns the result
// also with an error. It may be stopped and killed at any time.
func Run(ctx context.Context, r Request, s Sources) (*Result, error) {
	out := &Result{Schema: "capcli/profile_upkeep/v1", Removed: []RemovedDay{}, Kept: []KeptDay{}, Bad: []string{}, r: &r}
	w := &work{Result: out, ctx: ctx, s: &s}
	if err := r.Check(); err != nil {
		return out, err
	}
	var errs []error
	step := func(do func() error) {
		if ctx.Err() == nil {
			errs = append(errs, do())
		}
	}
	if free, least, low := w.room(); low || r.MakeRoom && !r.Keep.IsAll() {
		step(func() error { return w.prune(max(least, free+1)) })
	}
	if r.Compact {
		step(w.compact)
	}
	if r.Upload != "" {
		step(w.upload)
	}
	if !r.Keep.IsAll() {
		_, least, _ := w.room()
		step(func() error { return w.prune(least) })
	}
	if ctx.Err() != nil {
		errs = []error{context.Cause(ctx)}
	}
	return out, errors.Join(errs...)
}

// work is one Run.
type work struct {
	*Result
	ctx context.Context //nolint:containedctx // of one run
	s   *Sources
}

// room returns the free bytes and how many must be. low says that days must be removed for that.
func (w *work) room() (free, least int64, low bool) {
	if w.s.Room == nil {
		return 0, 0, false
	}
	free, size, ok := w.s.Room()
	if !ok {
		return 0, 0, false
	}
	least = leastFree(size)
	return free, least, free < least && !w.r.Keep.IsAll()
}

func (w *work) compact() error {
	got, err := store.Compact(w.ctx, w.s.Disk, w.r.Dir, store.CompactOptions{Hosts: w.r.Hosts, Before: w.r.Before, Program: w.r.Program, Holder: w.r.Holder})
	w.Merged, w.Into, w.Rows, w.Leftovers = got.Merged, got.Into, got.Rows, got.Removed
	for _, bad := range got.Bad {
		w.Bad = append(w.Bad, bad.Error())
	}
	return err
}

func (w *work) upload() error {
	b, err := w.s.Bucket(w.r.Upload)
	if err != nil {
		return err
	}
	w.Bucket = b.String()
	got, err := b.Upload(w.ctx, w.s.Disk, w.r.Dir, bucket.UploadOptions{
		Hosts: w.r.Hosts, Before: w.r.Before, NewBox: w.s.NewBox, TakeOver: w.r.TakeOver, Holder: w.r.Holder, Progress: w.s.Progress,
	})
	w.Uploaded, w.UploadedBytes, w.Known, w.Replaced = got.Files, got.Bytes, got.Known, got.Replaced
	for _, bad := range got.Bad {
		w.Bad = append(w.Bad, bad.Error())
	}
	return err
}

// prune removes days, also until so many bytes are free. Its second call in a run forgets the days
// that the first had to keep.
func (w *work) prune(free int64) error {
	o := store.PruneOptions{Hosts: w.r.Hosts, Keep: w.r.Keep, Today: w.r.Today, Uploading: w.r.Upload != "", Holder: w.r.Holder, Check: w.checkUpload}
	if w.s.Room != nil {
		o.Free = free
		o.Room = func() (int64, bool) {
			free, _, ok := w.s.Room()
			return free, ok
		}
	}
	got, err := store.Prune(w.ctx, w.s.Disk, w.r.Dir, o)
	for _, d := range got.Days {
		w.Removed = append(w.Removed, RemovedDay(d))
	}
	w.Kept = w.Kept[:0]
	for _, d := range got.Kept {
		w.Kept = append(w.Kept, KeptDay{d.Host, d.Day, d.Why.Error()})
	}
	return err
}

// checkUpload asks the bucket of a record whether it has a day.
func (w *work) checkUpload(_ context.Context, u *store.Upload, day string) error {
	b, err := w.s.Bucket(u.To)
	if err != nil {
		return err
	}
	return b.Check(u, day)
}
