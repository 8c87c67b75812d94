package profile_test

import (
	"reflect"
	"strings"
	"testing"

	"capcli/profile"
)

// Each field of Use is one of UseFields: a field that files do not keep would be lost in roll-ups.
func TestUseFieldsAreAll(t *testing.T) {
	for _, path := range leaves(reflect.TypeFor[profile.Use]()) {
		var u profile.Use
		setLeaf(reflect.ValueOf(&u).Elem(), path)
		found := 0
		for _, f := range profile.UseFields {
			if isSet(&f, &u) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("field %s of Use: %d of UseFields hold it, want 1", strings.Join(path, "."), found)
		}
	}
}

// leaves returns the paths of all fields of a struct, down to what is no struct. The ranges of
// distributions and Parts are no fields: they are the same in every Use of one device.
func leaves(of reflect.Type) (out [][]string) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Type.Kind() != reflect.Struct {
			if f.Name != "Top" && f.Name != "Parts" {
				out = append(out, []string{f.Name})
			}
			continue
		}
		for _, rest := range leaves(f.Type) {
			out = append(out, append([]string{f.Name}, rest...))
		}
	}
	return out
}

func setLeaf(v reflect.Value, path []string) {
	for _, name := range path {
		v = v.FieldByName(name)
	}
	setValue(v)
}

func setValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Struct:
		for i := range v.NumField() {
			setValue(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		setValue(v.Index(2))
	case reflect.Array:
		setValue(v.Index(v.Len() - 1))
	default:
		panic("a kind of field that is not known: " + v.Kind().String())
	}
}

func isSet(f *profile.UseField, u *profile.Use) bool {
	switch {
	case f.Micros != nil:
		return *f.Micros(u) != 0
	case f.Flag != nil:
		return *f.Flag(u)
	case f.Most != nil:
		return *f.Most(u) != 0
	case f.Sum != nil:
		return *f.Sum(u) != profile.Sum{}
	case f.Mean != nil:
		return *f.Mean(u) != profile.Average{}
	case f.Values != nil:
		return !reflect.DeepEqual(*f.Values(u), profile.Distribution{})
	case f.Steps != nil:
		return len(*f.Steps(u)) > 0
	case f.Counts != nil:
		for _, n := range f.Counts(u, false) {
			if n != 0 {
				return true
			}
		}
	}
	return false
}
