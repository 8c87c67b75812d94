package main

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"capcli/simulate/plan/shard"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// inputLog remembers which files a command opened.
type inputLog struct {
	lock  sync.Mutex
	names []string
}

// logInputs makes every further file that e opens known to the log.
func logInputs(e *env) *inputLog {
	l, open := &inputLog{}, e.disk.Open
	e.disk.Open = func(name string) (fs.File, error) {
		f, err := open(name)
		if err == nil {
			l.lock.Lock()
			defer l.lock.Unlock()
			l.names = append(l.names, name)
		}
		return f, err
	}
	return l
}

// inputs gives the files that were opened and what is in them, by name.
func (l *inputLog) inputs(e *env) ([]shard.Input, error) {
	l.lock.Lock()
	names := slices.Clone(l.names)
	l.lock.Unlock()
	slices.Sort(names)
	var out []shard.Input
	for _, name := range slices.Compact(names) {
		f, err := e.disk.Open(name)
		if err != nil {
			return nil, cannotOpen(name, err)
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		out = append(out, shard.Input{Name: name, SHA256: hex.EncodeToString(sum.Sum(nil))})
	}
	return out, nil
}

// canonicalArgs is what was asked of cmd, in one way of saying it: the flags that
// were given, by name, without those called leaveOut, which do not change a
// figure; then the arguments. Given to cmd it asks for the same again.
func canonicalArgs(cmd *cobra.Command, args []string, leaveOut ...string) []string {
	var out []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(leaveOut, f.Name) {
			return
		}
		for _, v := range flagValues(f) {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return append(append(out, "--"), args...)
}

// flagValues are the values that give f its present one.
func flagValues(f *pflag.Flag) []string {
	list, ok := f.Value.(pflag.SliceValue)
	keys, bundled := f.Value.(*bundle)
	switch {
	case bundled && keys.String() == "":
		return nil // its keys are flags
	case !ok:
		return []string{f.Value.String()}
	case f.Value.Type() == "stringArray":
		return list.GetSlice()
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(list.GetSlice()) // a strings.Builder takes all
	w.Flush()
	return []string{strings.TrimSuffix(b.String(), "\n")}
}
