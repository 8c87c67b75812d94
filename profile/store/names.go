package store

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli/profile"
)

const (
	datePrefix = "date="
	hostPrefix = "host="
	logFolder  = ".wal"
	logSuffix  = ".wal"
	oddSuffix  = ".damaged" // follows logSuffix in the name of a damaged segment
	fileSuffix = ".parquet"
	partTemp   = ".part.tmp"
	mergeTemp  = ".merge.tmp"
	lockName   = "lock"
	mergeLock  = "compact.lock"
	stampForm  = "20060102T150405Z"
)

func hostFolder(host string) string {
	host = cmp.Or(host, "unknown")
	return hostPrefix + url.PathEscape(host)
}

// hostOf returns the host of a folder that hostFolder named; ok is false for any other folder.
func hostOf(folder string) (host string, ok bool) {
	name, ok := strings.CutPrefix(folder, hostPrefix)
	if !ok {
		return "", false
	}
	host, err := url.PathUnescape(name)
	return host, err == nil && hostFolder(host) == folder
}

// DateOf returns the UTC date of an instant, such as 2026-11-20.
func DateOf(at profile.Instant) string { return at.Std().Format(time.DateOnly) }

// dayOf returns the number of days from 1970-01-01 UTC to an instant, which must not be before
// that.
func dayOf(at profile.Instant) int64 { return int64(at) / 86_400_000_000 }

func logName(seq int64) string { return fmt.Sprintf("%08d%s", seq, logSuffix) }

func seqOfLog(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, logSuffix)
	if !ok {
		return 0, false
	}
	return seqOf(digits)
}

func seqOf(digits string) (int64, bool) {
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0 && len(digits) >= 8
}

// piece is a Parquet file, as described by its name.
type piece struct {
	table    table
	dir      string // date and host folder, relative to the root of the store
	name     string
	first    profile.Instant // instant of its first tick, rounded down to the second
	from, to int64           // numbers of its first and last segment; those between may be missing
	size     int64           // bytes
}

func (p *piece) path() string { return path.Join(p.dir, p.name) }

// merged reports whether the file holds several segments.
func (p *piece) merged() bool { return p.to > p.from }

func pieceName(t table, first profile.Instant, from, to int64) string {
	last := ""
	if to > from {
		last = fmt.Sprintf("-%08d", to)
	}
	return fmt.Sprintf("%s-%s-%08d%s%s", specs[t].name, first.Std().Format(stampForm), from, last, fileSuffix)
}

// parsePiece returns the piece of a name that pieceName made; ok is false for any other name.
func parsePiece(dir, name string) (p piece, ok bool) {
	stem, ok := strings.CutSuffix(name, fileSuffix)
	parts := strings.Split(stem, "-")
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return p, false
	}
	t := slices.IndexFunc(specs[:], func(s spec) bool { return s.name == parts[0] })
	at, err := time.Parse(stampForm, parts[1])
	from, ok := seqOf(parts[2])
	if t < 0 || err != nil || !ok {
		return p, false
	}
	p = piece{table: table(t), dir: dir, name: name, first: profile.InstantOf(at), from: from, to: from}
	if len(parts) == 4 {
		if p.to, ok = seqOf(parts[3]); !ok || p.to <= from {
			return p, false
		}
	}
	return p, true
}

// numbers is a set of segment numbers, ascending.
type numbers []int64

// String returns the set as ranges, such as 1-5,7.
func (n numbers) String() string {
	var b strings.Builder
	for i := 0; i < len(n); {
		k := i
		for k+1 < len(n) && n[k+1] == n[k]+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, n[i])
		if k > i {
			fmt.Fprintf(&b, "-%d", n[k])
		}
		i = k + 1
	}
	return b.String()
}

// parseNumbers parses what String returned; it returns false for any other text.
func parseNumbers(s string) (numbers, bool) {
	const most = 10_000_000
	var n numbers
	for one := range strings.SplitSeq(s, ",") {
		low, high, ranged := strings.Cut(one, "-")
		from, err := strconv.ParseInt(low, 10, 64)
		to := from
		if ranged && err == nil {
			to, err = strconv.ParseInt(high, 10, 64)
		}
		if err != nil || from < 1 || to < from || to-from > most || len(n) > most || len(n) > 0 && from <= n[len(n)-1] {
			return nil, false
		}
		for ; from <= to; from++ {
			n = append(n, from)
		}
	}
	return n, true
}

func (n numbers) contains(seq int64) bool {
	_, ok := slices.BinarySearch(n, seq)
	return ok
}

func (n numbers) isSubsetOf(m numbers) bool {
	for _, seq := range n {
		if !m.contains(seq) {
			return false
		}
	}
	return true
}

func (n numbers) union(m numbers) numbers {
	all := append(slices.Clone(n), m...)
	slices.Sort(all)
	return slices.Compact(all)
}
