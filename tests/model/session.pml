// The life of sessions as the helper sees it: CREATE, DESTROY and COLLECT by several helpers at once,
// each of which may die before any of its steps, and session leaders that may die at any time. One
// LOOK or STEP is one system call, or several that nobody can tell apart; the function whose step it
// is stands beside it. There are so few numbers that they come round all the time: nothing that is
// proven here leans on how far apart two uses of a number are. What is proven is in the assert()s, and
// that no helper waits for ever (Spin's own check for invalid end states).
// -DFLAW_… leaves something out that matters; tests/model/run sees to it that each is found.

#ifndef NUMBERS
#define NUMBERS 2 // 1 or 2
#endif
#ifndef HELPERS
#define HELPERS 2 // at once: 2 or 3
#endif
#ifndef OPERATIONS
#define OPERATIONS 3 // helpers that are started in all
#endif
// -DPLAIN: CREATE and DESTROY do not COLLECT themselves, and DESTROY tries once; for more at once.
#ifdef PLAIN
#define ROUNDS 1
#else
#define ROUNDS 2
#endif
// Most sessions that are made in one run. Their index here is who they are, and is not used again.
#define SESSIONS 3

// Who holds a session's lock, beside the helpers by their index: the open file that CREATE locked and
// that its leader inherits.
#define NOBODY 0
#define CREATOR 9

// Leaders, operations, records, answers of sessions_lock().
mtype = { NONE, CLONED, READY, RUNNING, DYING, DEAD };
mtype = { CREATE, DESTROY, COLLECT };
mtype = { ABSENT, TORN, WHOLE };
mtype = { HELD, ALIVE, GONE };

// The file system: what stands under which name.
byte allocation;	     // who holds the allocation lock
byte counter;		     // what is written in it
byte directory[NUMBERS + 1]; // whose directory is /run/lodger/sessions/N
byte cgroup[NUMBERS + 1];    // whose cgroup is called N
bit named[NUMBERS + 1];	     // names.c

// Sessions, from 1 on.
byte sessions;
byte number[SESSIONS + 1], owner[SESSIONS + 1];
bit lock_linked[SESSIONS + 1], socket_linked[SESSIONS + 1];
mtype record[SESSIONS + 1];
byte lock_holder[SESSIONS + 1];
bit parent[SESSIONS + 1]; // the helper that makes it is there
mtype leader[SESSIONS + 1];
byte in_cgroup[SESSIONS + 1];
bit go[SESSIONS + 1];

byte started, creating;
bit busy[4], over;

#define LIVES(s) (leader[s] != NONE && leader[s] != DEAD)
#define MEMBER(s, c) (c != 0 && in_cgroup[s] == c && LIVES(s))
#define POPULATED(c) (MEMBER(1, c) || MEMBER(2, c) || MEMBER(3, c))
#define EMPTY(s) (!lock_linked[s] && !socket_linked[s] && record[s] == ABSENT)

// A step of a helper that only looks, or only gives back what its death would give back.
#define LOOK(code) d_step { code }
// One that changes something, before which the helper may die; to die before a look is to die before
// the next change. Who waits in vain may not save itself by dying: that would hide a deadlock.
#define STEP(when, code)                                                                               \
	if                                                                                             \
	:: d_step { when -> code }                                                                     \
	:: atomic { (when) && !over -> goto dead }                                                           \
	fi
// One that may fail: `code` says where it goes on then.
#define TRY(code)                                                                                      \
	if                                                                                             \
	:: atomic { true -> code }                                                                     \
	:: !over -> goto dead                                                                          \
	fi
#define UNLOCK                                                                                         \
	if                                                                                             \
	:: lock != 0 && lock_holder[lock] == me -> lock_holder[lock] = NOBODY                          \
	:: else                                                                                        \
	fi;                                                                                            \
	lock = 0

inline leader_dies(s)
{
	leader[s] = DEAD;
	in_cgroup[s] = 0;
	go[s] = false;
	if
	:: lock_holder[s] == CREATOR && !parent[s] -> lock_holder[s] = NOBODY
	:: else
	fi
}

// SIGKILL, if `s` is in cgroup `c`. `may`: whether it may hit that one.
inline kill_member(s, c, may)
{
	if
	:: MEMBER(s, c) -> assert(may); leader[s] = DYING
	:: else
	fi
}

// Sets `answer`, and `lock` to the session whose lock is held.
inline sessions_lock(n)
{
	LOOK(place = directory[n]); // session_open
	LOOK(if			    // openat
	     :: place != 0 && lock_linked[place] -> lock = place; answer = HELD
	     :: else -> answer = GONE
	     fi;
	     place = 0);
	if
	:: answer == HELD ->
		STEP(true, if // flock, LOCK_NB
			   :: lock_holder[lock] == NOBODY -> lock_holder[lock] = me
			   :: else -> answer = ALIVE; lock = 0
			   fi);
#ifndef FLAW_LINK_COUNT
		LOOK(if // fstat: st_nlink
		     :: answer == HELD && !lock_linked[lock] -> UNLOCK; answer = GONE
		     :: else
		     fi)
#endif
	:: else
	fi
}

// Sets `removed`. The helper holds the session's lock, or is the one that makes session `made`:
// nothing of it lives, but what CREATE's undo ends.
inline sessions_remove(n)
{
	LOOK(group = cgroup[n]);	     // cgroup_open
	LOOK(place = directory[n]);	     // session_open
	STEP(true, kill_member(1, group, made == 1); // cgroup_kill
	     kill_member(2, group, made == 2);
	     kill_member(3, group, made == 3));
	LOOK(removed = !POPULATED(group); group = 0);
	if
	:: removed ->
		STEP(true, if // cgroup_remove
			   :: POPULATED(cgroup[n]) -> removed = false
			   :: else -> cgroup[n] = 0
			   fi)
	:: else
	fi;
	if
	:: removed ->
		STEP(true, named[n] = 0); // names_remove
		if
		:: place == 0 -> goto dead // die: unlinkat of nowhere
		:: else
		fi;
#ifdef FLAW_UNLINK_ORDER
		STEP(true, lock_linked[place] = 0);
#endif
		STEP(true, socket_linked[place] = 0); // unlinkat, as session_files has them
		STEP(true, assert(!LIVES(place)); record[place] = ABSENT);
		STEP(true, lock_linked[place] = 0; place = 0);
		TRY(if // unlinkat, AT_REMOVEDIR; or die: it is not empty
			   :: directory[n] != 0 && !EMPTY(directory[n]) -> goto dead
			   :: else -> directory[n] = 0
			   fi)
	:: else -> place = 0
	fi
}

inline sessions_collect()
{
	number_visited = 1; // sessions_walk
	do
	:: number_visited <= NUMBERS ->
		STEP(allocation == NOBODY, allocation = me); // collect_one
		sessions_lock(number_visited);
		if
		:: answer == GONE ->
			STEP(true, if // unlinkat, AT_REMOVEDIR
				   :: directory[number_visited] != 0 &&
					      !EMPTY(directory[number_visited])
				   :: else -> directory[number_visited] = 0
				   fi)
		:: else
		fi;
		LOOK(allocation = NOBODY);
		if
		:: answer == HELD ->
			sessions_remove(number_visited);
			LOOK(UNLOCK; removed = false)
		:: else
		fi;
		LOOK(answer = 0; number_visited++)
	:: else -> break
	od;
	number_visited = 0
}

// Goes on at "undo" when something fails.
inline session_create()
{
	STEP(allocation == NOBODY, allocation = me); // sessions_claim
	if					     // count_reached
	:: true
#ifndef PLAIN
	:: true ->
		LOOK(allocation = NOBODY);
		sessions_collect();
		STEP(allocation == NOBODY, allocation = me)
#endif
	fi;
	do // number_take
	:: tries < NUMBERS ->
		STEP(true, counter = counter % NUMBERS + 1; tries++); // pwrite
		STEP(true, if					      // mkdirat
			   :: directory[counter] == 0 ->
				   sessions++;
				   made = sessions;
				   number[made] = counter;
				   owner[made] = uid;
				   record[made] = ABSENT;
				   leader[made] = NONE;
				   parent[made] = true;
				   directory[counter] = made;
				   tries = 0
			   :: else
			   fi);
		if
		:: made != 0 -> break
		:: else
		fi
	:: else -> goto dead // die: all are taken
	od;
#ifdef FLAW_LOCK_LATE
	STEP(true, allocation = NOBODY);
#endif
	TRY(if // session_open, openat with O_EXCL
		   :: directory[number[made]] == made -> lock_linked[made] = true
		   :: else -> goto undo
		   fi);
#ifdef FLAW_LOCK_TRIED
	TRY(if // flock with LOCK_NB
		   :: lock_holder[made] == NOBODY -> lock_holder[made] = CREATOR
		   :: else -> goto undo
		   fi);
#else
	STEP(lock_holder[made] == NOBODY, lock_holder[made] = CREATOR); // flock
#endif
	TRY(if // socket_listen
		   :: directory[number[made]] == made -> socket_linked[made] = true
		   :: else -> goto undo
		   fi);
#ifndef FLAW_LOCK_LATE
	LOOK(allocation = NOBODY);
#endif
	STEP(true, if // cgroup_create
		   :: cgroup[number[made]] == 0 -> cgroup[number[made]] = made
		   :: else
		   fi);
	// clone(2). In this moment nobody else may have the number, and with it the uid.
	STEP(true, assert(!(LIVES(1) && number[1] == number[made]) &&
			  !(LIVES(2) && number[2] == number[made]) &&
			  !(LIVES(3) && number[3] == number[made]));
	     leader[made] = CLONED);
#ifdef FLAW_GO_EARLY
	STEP(true, go[made] = true);
#endif
	TRY(if // sessions_record: openat with O_EXCL
		   :: directory[number[made]] != 0 && record[directory[number[made]]] == ABSENT ->
			   assert(directory[number[made]] == made);
			   record[made] = TORN
		   :: else -> goto undo
		   fi);
	STEP(true, record[made] = WHOLE);	 // frame_write_full
	STEP(true, named[number[made]] = true); // names_add
	TRY(if				 // leader_release: send
		   :: LIVES(made) -> go[made] = true
		   :: else -> goto undo
		   fi);
	LOOK((leader[made] == RUNNING || leader[made] == DEAD)); // leader_release: read
	if
	:: true				   // session_create
	:: leader[made] == DEAD -> goto undo // it said why it failed
	fi
}

inline session_destroy(n)
{
	do
	:: tries < ROUNDS ->
		tries++;
#ifndef FLAW_CGROUP_LATE
		LOOK(victim = cgroup[n]); // cgroup_open
#endif
		LOOK(place = directory[n]); // sessions_lookup: session_open
		if
		:: place == 0 -> break // CODE_ALREADY_GONE
		:: else
		fi;
		LOOK(if // sessions_lookup: record_read
		     :: record[place] == WHOLE -> found = owner[place]
		     :: else -> found = 0
		     fi;
		     place = 0);
		if
		:: found == 0 -> // CODE_BUSY
			LOOK(victim = 0);
			if
			:: true
#ifndef PLAIN
			:: true -> sessions_collect()
#endif
			fi
		:: found != 0 && found != uid -> break // CODE_PERMISSION
		:: found != 0 && found == uid ->
#ifdef FLAW_CGROUP_LATE
			LOOK(victim = cgroup[n]);
#endif
			// cgroup_kill. Nobody's session is ended but the caller's own.
			STEP(true, kill_member(1, victim, owner[1] == uid);
			     kill_member(2, victim, owner[2] == uid);
			     kill_member(3, victim, owner[3] == uid));
			if // It waits, but not for ever.
			:: LOOK(!POPULATED(victim) -> victim = 0; found = 0)
			:: LOOK(POPULATED(victim) -> victim = 0; found = 0)
			fi;
			sessions_lock(n);
#ifndef FLAW_DESTROY_BLIND
			if
			:: answer == HELD ->
				LOOK(place = directory[n]); // sessions_lookup under the lock
				LOOK(if
				     :: place != 0 && record[place] == WHOLE
				     :: else -> answer = ALIVE
				     fi;
				     place = 0);
#ifdef FLAW_LOCK_ORDER
				STEP(allocation == NOBODY, allocation = me);
				LOOK(allocation = NOBODY);
#endif
				LOOK(if
				     :: answer == ALIVE -> UNLOCK
				     :: else
				     fi)
			:: else
			fi;
#endif
			if
			:: answer == HELD ->
				sessions_remove(n);
				LOOK(UNLOCK);
				if
				:: removed -> break
				:: else
				fi
			:: else
			fi;
			answer = 0
		fi
	:: else -> break // CODE_BUSY
	od
}

proctype helper(byte me)
{
	byte uid, lock, made, place, group, victim, found, tries, number_wanted, number_visited;
	bool removed;
	mtype operation, answer;

next:
	atomic {
		// Helpers are alike: the first that is idle is the next one to start.
		if
		:: started < OPERATIONS && (me == 1 || busy[1]) && (me < 3 || busy[2]) ->
			started++;
			busy[me] = true;
			if
			:: sessions + creating < SESSIONS ->
				operation = CREATE;
				creating++
			:: operation = DESTROY;
				number_wanted = 1
#if NUMBERS == 2
			:: operation = DESTROY;
				number_wanted = 2
#endif
			:: operation = COLLECT
			fi;
			if
			:: operation != COLLECT -> uid = 2
			:: uid = 1
			fi
		:: started == OPERATIONS && me == 1 && !busy[1] && !busy[2] && !busy[3] && !over ->
			// All are dead, and one COLLECT runs alone.
			over = true;
			operation = COLLECT;
			if
			:: LIVES(1) -> leader_dies(1)
			:: else
			fi;
			if
			:: LIVES(2) -> leader_dies(2)
			:: else
			fi;
			if
			:: LIVES(3) -> leader_dies(3)
			:: else
			fi
		:: over -> goto finished
		fi
	}
	if
	:: operation == CREATE -> session_create()
	:: operation == DESTROY -> session_destroy(number_wanted)
	:: operation == COLLECT -> sessions_collect()
	fi;
	if
	:: over ->
		assert(directory[1] == 0 && cgroup[1] == 0 && !named[1]);
#if NUMBERS == 2
		assert(directory[2] == 0 && cgroup[2] == 0 && !named[2]);
#endif
		goto finished
	:: else -> goto dead
	fi;

undo: // create.c: undo
	STEP(true, if
		   :: LIVES(made) -> leader[made] = DYING
		   :: else
		   fi);
	LOOK(!LIVES(made)); // waitpid
	sessions_remove(number[made]);

dead: // exit, or a crash
	atomic {
		skip;
		d_step {
			assert(!over);
			UNLOCK;
			if
			:: allocation == me -> allocation = NOBODY
			:: else
			fi;
			if
			:: operation == CREATE -> creating--
			:: else
			fi;
			if
			:: made != 0 ->
				parent[made] = false;
				if
				:: lock_holder[made] == CREATOR && !LIVES(made) ->
					lock_holder[made] = NOBODY
				:: else
				fi
			:: else
			fi;
			uid = 0;
			made = 0;
			place = 0;
			group = 0;
			victim = 0;
			found = 0;
			tries = 0;
			number_wanted = 0;
			number_visited = 0;
			removed = false;
			operation = 0;
			answer = 0;
			busy[me] = false
		};
		goto next
	}
finished:
	skip
}

// create.c: leader_prepare, then the agent.
#define LEADER(s)                                                                                      \
	:: d_step {                                                                                    \
		leader[s] == CLONED && cgroup[number[s]] != 0 -> /* cgroup_enter */                    \
		in_cgroup[s] = cgroup[number[s]];                                                      \
		leader[s] = READY                                                                      \
	}                                                                                              \
	:: d_step {                                                                                    \
		leader[s] == READY && go[s] -> /* read; agent_execute */                               \
		assert(record[s] == WHOLE && directory[number[s]] == s);                               \
		leader[s] = RUNNING                                                                    \
	}                                                                                              \
	:: d_step { LIVES(s) -> leader_dies(s) } /* any death, and the end of file */

proctype leaders()
{
end:
	do
	LEADER(1)
	LEADER(2)
	LEADER(3)
	od
}

init
{
	atomic {
		record[1] = ABSENT;
		record[2] = ABSENT;
		record[3] = ABSENT;
		leader[1] = NONE;
		leader[2] = NONE;
		leader[3] = NONE;
		// Either nothing is there, or a session that runs.
		if
		:: true
		:: true ->
			sessions = 1;
			counter = 1;
			number[1] = 1;
			owner[1] = 1;
			directory[1] = 1;
			cgroup[1] = 1;
			named[1] = true;
			lock_linked[1] = true;
			socket_linked[1] = true;
			record[1] = WHOLE;
			lock_holder[1] = CREATOR;
			leader[1] = RUNNING;
			in_cgroup[1] = 1
		fi;
		run leaders();
		run helper(1);
		run helper(2);
#if HELPERS == 3
		run helper(3)
#endif
	}
}
