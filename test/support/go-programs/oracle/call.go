package main

import (
	"context"
	"fmt"
	"reflect"
)

// Calls a function whose parameters are not the same in every minor: each takes the first of the arguments that has its type and was not
// taken before; contexts and loggers are there for all. What no argument fits is zero. The last result is an error, or nothing is.
func call(function any, arguments ...any) ([]reflect.Value, error) {
	values := make([]reflect.Value, 0, len(arguments)+2)
	for _, argument := range append(arguments, context.Background(), logger) {
		values = append(values, reflect.ValueOf(argument))
	}
	of := reflect.ValueOf(function)
	given := make([]reflect.Value, of.Type().NumIn())
	for i := range given {
		wanted := of.Type().In(i)
		given[i] = reflect.Zero(wanted)
		for at, value := range values {
			if value.IsValid() && value.Type().AssignableTo(wanted) {
				given[i], values[at] = value, reflect.Value{}
				break
			}
		}
	}
	results := of.Call(given)
	if len(results) == 0 {
		return nil, nil
	}
	err, _ := results[len(results)-1].Interface().(error)
	return results, err
}

// The type of the first parameter that says so of itself, such as *model.MachineInfo: packages move.
func parameter(function any, name string) reflect.Type {
	of := reflect.TypeOf(function)
	for i := range of.NumIn() {
		wanted := of.In(i)
		if wanted.Name() == name || (wanted.Kind() == reflect.Pointer && wanted.Elem().Name() == name) {
			return wanted
		}
	}
	panic(fmt.Sprintf("%v takes no %s", of, name))
}

// Makes a field of a struct zero, in minors that have it.
func unset(structure any, name string) {
	if found := reflect.ValueOf(structure).Elem().FieldByName(name); found.IsValid() {
		found.SetZero()
	}
}

// A field of a struct that only some minors have.
func fieldOf[T any](structure any, name string) (value T) {
	if found := reflect.ValueOf(structure).Elem().FieldByName(name); found.IsValid() {
		value, _ = found.Interface().(T)
	}
	return value
}
