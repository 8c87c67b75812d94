package bucket

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // S3 names the content of objects so; it guards against accidents
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"capcli"
	"capcli/profile"
	"capcli/profile/store"
)

// UploadOptions says what Upload uploads.
type UploadOptions struct {
	Hosts  []string        // nil is all
	Before profile.Instant // only days that ended by this instant; 0 selects all days
	// NewBox makes the random name of a box that was never uploaded.
	NewBox func() string
	// TakeOver makes this box the owner of its host's name in the bucket, whoever was before.
	TakeOver bool
	Holder   string // name of this program, shown to another program that finds the lock taken
	// Progress is called with the bytes uploaded and to upload, of one host.
	Progress func(done, total int64)
}

// Uploaded is what Upload did.
type Uploaded struct {
	Files    int
	Bytes    int64
	Days     int     // that have new files in the bucket
	Known    int     // files that the bucket had already
	Replaced int     // files removed from the bucket, whose rows are all in a newer file there
	Bad      []error // days and files that were not uploaded, and why
}

// Upload copies the files of ended days to the bucket, one folder for each day and host as on the
// disk. It may be stopped, killed and repeated at any time. A file counts as uploaded when the bucket
// says that it has its size and checksum; the record of uploads lists it then.
//
// Upload removes from the bucket only files that it uploaded itself, as the record says, and whose
// segments are all in a newer file that the bucket has. It touches no other host. It refuses a host
// whose name another box has claimed in the bucket, and a day in which the bucket has files that
// are not of this box and would hide its own.
func (b *Bucket) Upload(ctx context.Context, disk store.Disk, root string, o UploadOptions) (Uploaded, error) {
	var done Uploaded
	if disk == nil {
		disk = store.System{}
	}
	hosts, err := store.Hosts(disk, root)
	if err != nil {
		return done, err
	}
	for _, host := range hosts {
		if len(o.Hosts) > 0 && !slices.Contains(o.Hosts, host) {
			continue
		}
		u := &uploading{b: b, ctx: ctx, disk: disk, root: root, host: host, o: &o, done: &done}
		if err := u.run(); err != nil {
			return done, err
		}
	}
	return done, nil
}

// uploading is the upload of one host.
type uploading struct {
	b      *Bucket
	ctx    context.Context //nolint:containedctx // of one run
	disk   store.Disk
	root   string
	host   string
	o      *UploadOptions
	done   *Uploaded
	record *store.Upload
	sent   int64
	total  int64
}

func (u *uploading) run() (err error) {
	unlock, err := store.LockHost(u.disk, u.root, u.host, u.o.Holder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	// The record comes first: from then on no day goes before it is uploaded.
	if err := u.open(); err != nil {
		return err
	}
	if err := u.claim(); err != nil {
		return err
	}
	files, err := store.HostFiles(u.disk, u.root, u.host)
	if err != nil {
		return err
	}
	days := map[string][]store.StoredFile{}
	for _, f := range files {
		if u.o.Before == 0 || f.Day < store.DateOf(u.o.Before) {
			days[f.Day] = append(days[f.Day], f)
		}
	}
	for day := range u.record.Days {
		if !slices.ContainsFunc(files, func(f store.StoredFile) bool { return f.Day == day }) {
			delete(u.record.Days, day) // the disk has it no more: no removal has to ask for it
		}
	}
	for day, all := range days {
		if u.isDone(day, all) {
			delete(days, day)
			continue
		}
		for _, f := range all {
			u.total += f.Size
		}
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		if err := u.day(day, days[day]); err != nil {
			return err
		}
	}
	return nil
}

// open reads the record of uploads. It starts one where there is none, or where the bucket is
// another.
func (u *uploading) open() error {
	r, err := store.ReadUpload(u.disk, u.root, u.host)
	if err != nil {
		return err
	}
	if r == nil {
		r = &store.Upload{Host: u.host, Box: u.o.NewBox()}
	}
	u.record = r
	if r.To == u.b.String() {
		return nil
	}
	r.To, r.Days = u.b.String(), nil
	return r.Write(u.disk, u.root)
}

// isDone reports whether the record lists exactly the files of a day.
func (u *uploading) isDone(day string, files []store.StoredFile) bool {
	known := u.record.Days[day]
	if len(known) != len(files) {
		return false
	}
	for _, f := range files {
		if !slices.ContainsFunc(known, func(k store.UploadedFile) bool { return k.Name == f.Name && k.Size == f.Size }) {
			return false
		}
	}
	return true
}

func (u *uploading) folder(day string) string {
	return u.b.prefix + store.HostFolder(day, u.host) + "/"
}

// day uploads a day: first its files, then the record, and then what they replaced goes.
func (u *uploading) day(day string, files []store.StoredFile) error {
	there, err := u.b.objectsIn(u.folder(day))
	if err != nil {
		return err
	}
	if err := u.strangers(day, files, there); err != nil {
		return u.refuse(day, err)
	}
	sent := 0
	for _, f := range files {
		one, fresh, err := u.file(&f, there)
		if err != nil {
			return u.refuse(f.Path(), err)
		}
		if fresh {
			sent++
		}
		u.enter(day, one)
		u.sent += f.Size
		if u.o.Progress != nil {
			u.o.Progress(u.sent, u.total)
		}
	}
	if sent > 0 {
		u.done.Days++
	}
	if err := u.record.Write(u.disk, u.root); err != nil {
		return err
	}
	return u.clear(day, files)
}

// refuse adds an error to those of single days where it is one, and returns it otherwise.
func (u *uploading) refuse(what string, err error) error {
	var in *capcli.InputError
	var odd *strangerError
	if errors.As(err, &in) || errors.As(err, &odd) {
		u.done.Bad = append(u.done.Bad, fmt.Errorf("%s of %s is not uploaded: %w", what, u.host, err))
		return nil
	}
	return err
}

func (u *uploading) enter(day string, one store.UploadedFile) {
	if u.record.Days == nil {
		u.record.Days = map[string][]store.UploadedFile{}
	}
	all := slices.DeleteFunc(u.record.Days[day], func(k store.UploadedFile) bool { return k.Name == one.Name })
	all = append(all, one)
	slices.SortFunc(all, func(a, b store.UploadedFile) int { return cmp.Compare(a.Name, b.Name) })
	u.record.Days[day] = all
}

func (u *uploading) entryOf(day, name string) (store.UploadedFile, bool) {
	all := u.record.Days[day]
	if i := slices.IndexFunc(all, func(k store.UploadedFile) bool { return k.Name == name }); i >= 0 {
		return all[i], true
	}
	return store.UploadedFile{}, false
}

// strangerError is the error of a day in which the bucket has files that this box did not upload.
type strangerError struct{ name string }

func (e *strangerError) Error() string {
	return fmt.Sprintf("%s is there, which this box did not upload and which would be confused with its own: remove it if it is this box's, record under another --host if it is not", e.name)
}

// strangers fails where the bucket has files that this box did not upload and that may hide its
// own, as another box of the same name would write.
func (u *uploading) strangers(day string, files []store.StoredFile, there map[string]object) error {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		_, ours := u.entryOf(day, name)
		if ours || !slices.ContainsFunc(files, func(f store.StoredFile) bool { return f.Name != name && store.Overlap(f.Name, name) }) {
			continue
		}
		key := u.folder(day) + name
		info, err := u.b.head(key)
		if err != nil && !isGone(err) {
			return err
		}
		if err == nil && info.box != u.record.Box {
			return &strangerError{Scheme + u.b.name + "/" + key}
		}
		if err == nil { // a run that was stopped uploaded it
			u.enter(day, store.UploadedFile{Name: name, Size: info.size, SHA256: info.sum, Tag: info.tag, Segments: info.segments})
		}
	}
	return nil
}

// file uploads a file unless the bucket has it, and returns its entry in the record.
func (u *uploading) file(f *store.StoredFile, there map[string]object) (one store.UploadedFile, fresh bool, err error) {
	key := u.folder(f.Day) + f.Name
	was, known := u.entryOf(f.Day, f.Name)
	now, exists := there[f.Name]
	if known && exists && was.Size == f.Size && now == (object{was.Size, was.Tag}) {
		return was, false, nil
	}
	one = store.UploadedFile{Name: f.Name, Size: f.Size}
	if one.Segments, err = f.Segments(); err != nil {
		return one, false, err
	}
	at, err := u.disk.Open(path.Join(u.root, f.Path()))
	if err != nil {
		return one, false, err
	}
	defer at.Close() //nolint:errcheck // it was only read
	sums, err := sumOf(at, f.Size)
	if err != nil {
		return one, false, err
	}
	one.SHA256 = sums.sha256
	if exists {
		info, err := u.b.head(key)
		switch {
		case err != nil && !isGone(err):
			return one, false, err
		case err == nil && info.holds(f.Size, sums):
			one.Tag = info.tag
			u.done.Known++
			return one, false, nil
		case err == nil && !known && info.box != u.record.Box:
			return one, false, &strangerError{Scheme + u.b.name + "/" + key}
		}
	}
	one.Tag, err = u.b.put(key, at, f.Size, sums, u.record.Box, one.Segments)
	if err != nil {
		return one, false, err
	}
	u.done.Files, u.done.Bytes = u.done.Files+1, u.done.Bytes+f.Size
	return one, true, nil
}

// clear removes from the bucket the files of a day that this box uploaded and whose rows are all in
// a file that it has now, and then from the record.
func (u *uploading) clear(day string, files []store.StoredFile) error {
	var left []store.UploadedFile
	gone := 0
	for _, old := range u.record.Days[day] {
		current := slices.ContainsFunc(files, func(f store.StoredFile) bool { return f.Name == old.Name })
		if current || !u.isReplaced(day, old, files) {
			left = append(left, old)
			continue
		}
		if err := u.b.remove(u.folder(day)+old.Name, old.Tag); err != nil {
			return err
		}
		gone++
	}
	if gone == 0 {
		return nil
	}
	u.done.Replaced += gone
	u.record.Days[day] = left
	return u.record.Write(u.disk, u.root)
}

func (u *uploading) isReplaced(day string, old store.UploadedFile, files []store.StoredFile) bool {
	return slices.ContainsFunc(files, func(f store.StoredFile) bool {
		now, ok := u.entryOf(day, f.Name)
		return ok && store.IsReplaced(old.Name, old.Segments, now.Name, now.Segments)
	})
}

// claimed is the object that says which box has the name of a host.
type claimed struct {
	Version int    `json:"version"`
	Host    string `json:"host"`
	Box     string `json:"box"`
}

// claim makes sure that the name of the host is this box's in the bucket.
func (u *uploading) claim() error {
	key := u.b.prefix + ".boxes/" + path.Base(store.HostFolder("x", u.host)) + ".json"
	for range 2 {
		text, err := u.b.text(key)
		if err != nil && !isGone(err) {
			return err
		}
		var c claimed
		switch {
		case err != nil: // nobody has claimed it
		case json.Unmarshal(text, &c) != nil || c.Host != u.host:
			return &Error{Name: Scheme + u.b.name + "/" + key, Text: "it does not say which box has this name", Hint: "remove it if no other box uploads as " + u.host}
		case c.Box == u.record.Box:
			return nil
		case !u.o.TakeOver:
			return &Error{
				Name: u.b.String(), Text: fmt.Sprintf("it has the history of another box that is called %s", u.host),
				Hint: "give this box another name with --host, or --take-over if it replaces the other",
			}
		}
		mine, err := json.Marshal(claimed{1, u.host, u.record.Box})
		if err != nil {
			return err
		}
		err = u.b.putText(key, mine, !u.o.TakeOver)
		if err != nil && !isTaken(err) {
			return err
		}
	}
	return &Error{Name: u.b.String(), Text: fmt.Sprintf("another box claims the name %s at the same time", u.host), Hint: "give one of them another name with --host"}
}

// Check fails unless the bucket has the files that the record r lists of a day, with the content
// that was uploaded.
func (b *Bucket) Check(r *store.Upload, day string) error {
	folder := b.prefix + store.HostFolder(day, r.Host) + "/"
	there, err := b.objectsIn(folder)
	if err != nil {
		return err
	}
	for _, f := range r.Days[day] {
		if there[f.Name] != (object{f.Size, f.Tag}) {
			return fmt.Errorf("%s%s/%s%s is gone or was changed: upload it again", Scheme, b.name, folder, f.Name)
		}
	}
	return nil
}

func (b *Bucket) objectsIn(folder string) (map[string]object, error) {
	there := map[string]object{}
	err := b.walk(folder, false, func(key string, o object) { there[strings.TrimPrefix(key, folder)] = o })
	return there, err
}

// sums are the checksums of a file.
type sums struct {
	sha256 string
	md5    []byte
}

func sumOf(at io.ReaderAt, size int64) (sums, error) {
	strong, weak := sha256.New(), md5.New() //nolint:gosec // see above
	if _, err := io.Copy(io.MultiWriter(strong, weak), io.NewSectionReader(at, 0, size)); err != nil {
		return sums{}, err
	}
	return sums{hex.EncodeToString(strong.Sum(nil)), weak.Sum(nil)}, nil
}

// isTaken reports whether a write failed because the object is there already.
func isTaken(err error) bool {
	var e *Error
	return errors.As(err, &e) && (errors.Is(err, store.ErrChanged) || e.Code == "ConditionalRequestConflict")
}

// Keys of the metadata of an uploaded file.
const (
	metaSum      = "Capcli-Sha256"
	metaBox      = "Capcli-Box"
	metaSegments = "Capcli-Segments"
)

// info is what the bucket says of an object.
type info struct {
	object
	sum, box, segments string
}

// holds reports whether the object has this content, as far as the bucket tells.
func (i *info) holds(size int64, s sums) bool {
	return i.size == size && (i.sum == s.sha256 || i.sum == "" && i.tag == hex.EncodeToString(s.md5))
}

func (b *Bucket) head(key string) (info, error) {
	ctx, end, err := b.request(0)
	if err != nil {
		return info{}, err
	}
	defer end()
	o, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err != nil {
		return info{}, b.fault(key, err)
	}
	m := func(name string) string { return o.Metadata.Get("X-Amz-Meta-" + name) }
	return info{object{o.Size, o.ETag}, m(metaSum), m(metaBox), m(metaSegments)}, nil
}
