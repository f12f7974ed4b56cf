package main

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"k8s.io/component-base/featuregate"
)

// It tells nobody of the gates that are generally available.
func gatesIn(features featuregate.MutableFeatureGate) map[featuregate.Feature]featuregate.FeatureSpec {
	known := reflect.ValueOf(features).Elem().FieldByName("known")
	value := *(**atomic.Value)(unsafe.Pointer(known.UnsafeAddr()))
	return value.Load().(map[featuregate.Feature]featuregate.FeatureSpec)
}
